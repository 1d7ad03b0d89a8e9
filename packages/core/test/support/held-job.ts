import type { Source, SourceReader } from '../../src/contracts/source.js';
import type { Sink } from '../../src/contracts/sink.js';
import { SILENT } from '../../src/contracts/logger.js';
import { createEnvironment, type Environment, type EnvironmentOptions } from '../../src/index.js';
import { keyBy, keyedProcess, map, type Emit } from '../../src/operators.js';
import { staticSplits } from '../../src/operator/static-splits.js';

/** Where a job can be held up, in the order in which it comes there. */
export const PLACES = [
  'enumerator',
  'prepare sink',
  'open operator',
  'make committer',
  'open writer',
  'open reader',
  'poll',
  'record',
  'write',
  'flush',
  'prepare commit',
  'commit',
] as const;
export const CLOSINGS = [
  'close reader',
  'close enumerator',
  'close operator',
  'close writer',
  'close committer',
] as const;
export type Place = (typeof PLACES)[number] | (typeof CLOSINGS)[number];
/** Called in each place; a promise holds the job up there, if it can be held up there at all. */
export type At = (place: Place, signal: AbortSignal) => Promise<void> | void;

export interface HeldJob {
  readonly env: Environment;
  /** What was opened and not closed. */
  readonly open: Set<string>;
  readonly committed: number[];
}

/** Reads 1, 2 and 3, in one record per poll, and commits what it made of them; `at` is called wherever user code has its say. */
export function heldJob(at: At, options: EnvironmentOptions & { readonly isCheckpointed?: boolean } = {}): HeldJob {
  const open = new Set<string>();
  const committed: number[] = [];
  const { isCheckpointed = true, ...environment } = options;
  const closed = async (what: 'enumerator' | 'reader' | 'operator' | 'writer' | 'committer'): Promise<void> => {
    await at(`close ${what}`, new AbortController().signal);
    open.delete(what);
  };
  const env = createEnvironment({ logger: SILENT, ...environment });
  if (isCheckpointed) env.enableCheckpointing();

  const source: Source<number, 'replayable', { readonly id: string }, number> = {
    grade: 'replayable',
    bounded: true,
    enumerator: ({ signal }) => {
      const splits = staticSplits(async () => {
        await at('enumerator', signal);
        return [{ id: 'numbers' }];
      });
      open.add('enumerator');
      return { ...splits, close: () => closed('enumerator') };
    },
    async open(_split, position = 0, { signal }): Promise<SourceReader<number, number>> {
      await at('open reader', signal);
      open.add('reader');
      let next = position;
      const closing = new AbortController();
      return {
        async poll() {
          await at('poll', AbortSignal.any([signal, closing.signal]));
          return next === 3 ? 'end' : [++next];
        },
        position: () => next,
        async close() {
          closing.abort(new Error('the reader is closed'));
          await closed('reader');
        },
      };
    },
  };
  const sink: Sink<number, 'exactly-once', readonly number[]> = {
    grade: 'exactly-once',
    prepare: ({ signal }) => at('prepare sink', signal),
    destination: () => ({ id: 'place', name: 'a place', committed: [] }),
    async committer({ signal: opening }) {
      await at('make committer', opening);
      open.add('committer');
      return {
        async commit(committables, signal) {
          await at('commit', signal);
          committed.push(...committables.flatMap(({ payload }) => payload));
          return committables.map(() => ({ kind: 'committed' }));
        },
        close: () => closed('committer'),
      };
    },
    async open({ signal }) {
      await at('open writer', signal);
      open.add('writer');
      let pending: number[] = [];
      return {
        write(batch) {
          pending.push(...batch);
          return at('write', signal) ?? undefined;
        },
        flush: () => at('flush', signal),
        async prepareCommit() {
          await at('prepare commit', signal);
          const prepared = pending;
          pending = [];
          return prepared.length === 0 ? [] : [prepared];
        },
        close: () => closed('writer'),
      };
    },
  };
  env
    .from(source, { uid: 'in' })
    .pipe(
      map((n) => {
        void at('record', new AbortController().signal);
        return n * 10;
      }),
      keyBy((n) => n),
      keyedProcess({
        uid: 'keyed',
        async open({ signal }) {
          await at('open operator', signal);
          open.add('operator');
        },
        onRecord(n, _context, emit: Emit<number>) {
          emit(n);
        },
        close: () => closed('operator'),
      }),
    )
    .to(sink, { uid: 'out' });
  return { env, open, committed };
}

/** Holds up until `signal` aborts, and fails then, as a well-behaved user of a signal does. */
export function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const onAbort = (): void => {
      reject(signal.reason as Error);
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
}
