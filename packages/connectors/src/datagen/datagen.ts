import { staticSplits, WeirError, type Source } from '@weir/core/contracts';
import { Pace } from './pace.js';
import { SequenceReader } from './sequence-reader.js';

export interface DatagenOptions<T> {
  /** The first number. Default 0. */
  readonly from?: number | undefined;
  /** How many numbers; absent: counts up for ever. */
  readonly count?: number | undefined;
  /** Records per second of all splits together, evenly over time; absent: as many as are taken. */
  readonly ratePerSecond?: number | undefined;
  /** Into how many parts the numbers are dealt, one after the other, so that as many subtasks can count. Keep it over restarts. Default 1. */
  readonly splits?: number | undefined;
  /** Makes a record of a number; always the same one of the same number. Default: the number itself. */
  readonly map?: ((n: number) => T) | undefined;
}
/** The numbers that leave `index` when they are divided by the number of splits, counted from the first. */
export interface SequenceSplit {
  readonly id: string;
  readonly index: number;
}

/**
 * Counts up, as fast as its consumers take it or at a rate. A checkpoint holds where each split is; a restore goes on there at the same pace, and
 * what was not produced while the job was down or held up is not made up for.
 */
export function datagen<T = number>(options: DatagenOptions<T> = {}): Source<T, 'replayable', SequenceSplit, number> {
  const { from = 0, count, ratePerSecond, splits = 1 } = options;
  checkOptions(options);
  // Without `map` T is number.
  const map = options.map ?? ((n: number) => n as T);
  return {
    grade: 'replayable',
    bounded: count !== undefined,
    enumerator: () =>
      staticSplits(Array.from({ length: splits }, (_, index) => ({ id: `${String(index)}/${String(splits)}`, index }))),
    async open({ index }, position = 0, { clock }) {
      return new SequenceReader<T>({
        record: (n) => map(from + index + n * splits),
        next: position,
        length: count === undefined ? Infinity : Math.max(0, Math.ceil((count - index) / splits)),
        clock,
        pace: ratePerSecond === undefined ? undefined : new Pace(ratePerSecond / splits, clock),
      });
    },
  };
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
