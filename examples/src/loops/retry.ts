import {
  filter,
  iterate,
  keyBy,
  keyedProcess,
  map,
  mapState,
  type Emit,
  type StreamOperator,
} from '@weir/core/operators';

export interface RetryOptions<T> {
  /** Which one it is; two with the same id that wait at the same time are one. */
  readonly idOf: (item: T) => string;
  /** Tries it, and throws if that fails. */
  readonly attempt: (item: T) => void;
  /** How often an item is tried at most. */
  readonly attempts: number;
  /** Time from the first failure to the second try; doubled with each failure. */
  readonly firstBackoffMs: number;
}
export type Outcome<T> =
  | { readonly kind: 'done'; readonly item: T; readonly attempts: number }
  /** Given up: for a person to look at. */
  | { readonly kind: 'dead'; readonly item: T; readonly attempts: number; readonly reason: string };

interface Try<T> {
  readonly item: T;
  /** Failures so far. */
  readonly failures: number;
}
type Tried<T> = Outcome<T> | { readonly kind: 'again'; readonly item: T; readonly failures: number };

/**
 * Tries each item until it succeeds, with a growing pause in between, and gives it up after `attempts` failures. Items that wait, in a timer or on
 * their way round, are in each checkpoint: a crash forgets neither an item nor how often it was tried.
 */
export function retry<T>(options: RetryOptions<T>): StreamOperator<T, Outcome<T>> {
  const { idOf, attempt, attempts, firstBackoffMs } = options;

  const tryIt = ({ item, failures }: Try<T>): Tried<T> => {
    try {
      attempt(item);
      return { kind: 'done', item, attempts: failures + 1 };
    } catch (error) {
      if (failures + 1 < attempts) return { kind: 'again', item, failures: failures + 1 };
      return { kind: 'dead', item, attempts: failures + 1, reason: String(error) };
    }
  };

  return (items) =>
    items.pipe(
      map((item): Try<T> => ({ item, failures: 0 })),
      iterate<Try<T>, Outcome<T>>(
        (tries) => {
          const tried = tries.pipe(map(tryIt));
          const waited = tried.pipe(
            filter((outcome) => outcome.kind === 'again'),
            keyBy(({ item }) => idOf(item)),
            keyedProcess({
              uid: 'backoff',
              state: { waiting: mapState<number, Try<T>>() },
              onRecord({ item, failures }, { state, timers }) {
                const until = timers.now() + firstBackoffMs * 2 ** (failures - 1);
                state.waiting.set(until, { item, failures });
                timers.registerProcessingTime(until);
              },
              onTimer(time, { state }, emit: Emit<Try<T>>) {
                const due = state.waiting.get(time);
                state.waiting.delete(time);
                if (due !== undefined) emit(due);
              },
            }),
          );
          return { feedback: waited, output: tried.pipe(filter((outcome) => outcome.kind !== 'again')) };
        },
        { uid: 'retry' },
      ),
    );
}
