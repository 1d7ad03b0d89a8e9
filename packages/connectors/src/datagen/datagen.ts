import { staticSplits, WeirError, type Source } from '@weir/core/contracts';
import { Pace } from './pace.js';
import { SequenceReader } from './sequence-reader.js';

export interface DatagenOptions<T> {
  /** The first number. A checkpoint with another one is refused. Default 0. */
  readonly from?: number | undefined;
  /** How many numbers; absent: counts up for ever. */
  readonly count?: number | undefined;
  /** Records per second of all splits together, evenly over time; absent: as many as are taken. */
  readonly ratePerSecond?: number | undefined;
  /** Into how many parts the numbers are dealt, one after the other, so that as many subtasks can count. A checkpoint with another number is refused. Default 1. */
  readonly splits?: number | undefined;
  /** Makes a record of a number; always the same one of the same number. Default: the number itself. */
  readonly map?: ((n: number) => T) | undefined;
}
/** The numbers that leave `index` when they are divided by the number of splits, counted from the first. The id says all of that. */
export interface SequenceSplit {
  readonly id: string;
  readonly index: number;
}

/**
 * Counts up, as fast as its consumers take it or at a rate. A checkpoint holds where each split is; a restore goes on there at the same pace, and
 * what was not produced while the job was down or held up is not made up for. Another `from` or `splits` than in the checkpoint is
 * CHECKPOINT_INCOMPATIBLE, a `count` below what was read is SOURCE_POSITION_GONE.
 */
export function datagen<T = number>(options: DatagenOptions<T> = {}): Source<T, 'replayable', SequenceSplit, number> {
  const { from = 0, count, ratePerSecond, splits = 1 } = options;
  checkOptions(options);
  // Without `map` T is number.
  const map = options.map ?? ((n: number) => n as T);
  return {
    grade: 'replayable',
    bounded: count !== undefined,
    enumerator: (context) =>
      staticSplits(
        Array.from({ length: splits }, (_, index) => ({ id: idOf(index, splits, from), index })),
        { context, fixed: true },
      ),
    async open({ index }, position = 0, { clock, job, uid }) {
      const length = count === undefined ? Infinity : Math.max(0, Math.ceil((count - index) / splits));
      if (position > length) {
        throw new WeirError(
          'SOURCE_POSITION_GONE',
          `Source ${uid} of job ${job}: the checkpoint goes on behind ${String(position)} numbers of split ${idOf(index, splits, from)}, ` +
            `but with count ${String(count)} it has only ${String(length)}.`,
          { recoverable: false },
        );
      }
      return new SequenceReader<T>({
        record: (n) => map(from + index + n * splits),
        next: position,
        length,
        clock,
        pace: ratePerSecond === undefined ? undefined : new Pace(ratePerSecond / splits, clock),
      });
    },
  };
}

/** A position counts the numbers of its split, so it is one of this split only. */
function idOf(index: number, splits: number, from: number): string {
  return `${String(index)}/${String(splits)}${from === 0 ? '' : ` from ${String(from)}`}`;
}

function checkOptions({ from = 0, count = 0, ratePerSecond = 1, splits = 1 }: DatagenOptions<unknown>): void {
  const problem = !Number.isSafeInteger(from)
    ? `from is ${String(from)}`
    : !Number.isSafeInteger(count) || count < 0
      ? `count is ${String(count)}`
      : !(ratePerSecond > 0 && ratePerSecond < Infinity)
        ? `ratePerSecond is ${String(ratePerSecond)}`
        : !Number.isSafeInteger(splits) || splits < 1
          ? `splits is ${String(splits)}`
          : undefined;
  if (problem !== undefined) throw new WeirError('CONFIG_INVALID', `datagen(): ${problem}.`, { recoverable: false });
}
