import { staticSplits, type Clock, type Source } from '@weir/core/contracts';

export interface NumbersOptions {
  /** Records per poll. Default: as many as asked for. */
  readonly perPoll?: number | undefined;
  /** Turns of the event loop before each poll is answered, in which everything else of the job goes on. Default 0. */
  readonly turnsBetween?: number | undefined;
}

/** A replayable source of 0 to `count` - 1 in one split; its position is the next number. */
export function numbers(
  count: number,
  { perPoll = Infinity, turnsBetween = 0 }: NumbersOptions = {},
): Source<number, 'replayable', { readonly id: string }, number> {
  return {
    grade: 'replayable',
    bounded: true,
    enumerator: () => staticSplits([{ id: 'numbers' }]),
    async open(_split, position = 0, { clock, signal }) {
      let next = position;
      const pause = turnsOf(clock, turnsBetween);
      // A close that never reaches the reader leaves no turn behind either.
      signal.addEventListener('abort', pause.end, { once: true });
      const take = (max: number): readonly number[] | 'end' => {
        if (next >= count) return 'end';
        const first = next;
        next += Math.min(max, perPoll, count - first);
        return Array.from({ length: next - first }, (_, i) => first + i);
      };
      return {
        poll: (max) => (turnsBetween === 0 ? take(max) : pause.over().then(() => take(max))),
        position: () => next,
        close: async () => {
          pause.end();
        },
      };
    },
  };
}

/** So many turns of the event loop, each time anew, until it is ended. */
function turnsOf(clock: Clock, count: number): { over(): Promise<void>; readonly end: () => void } {
  let end = (): void => undefined;
  return {
    over: () =>
      new Promise((resolve) => {
        let left = count;
        const take = (): void => {
          if (left-- === 0) {
            resolve();
            return;
          }
          const cancel = clock.nextTurn(take);
          end = () => {
            cancel();
            resolve();
          };
        };
        take();
      }),
    end: () => {
      end();
    },
  };
}
