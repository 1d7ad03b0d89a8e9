import { queryObjects } from 'node:v8';
import { memoryState, memoryStorage } from '@weir/backend-memory';
import { checkpointCoordinator } from '@weir/coordinator';
import { createEnvironment } from '@weir/core';
import { SILENT, staticSplits, type Committer, type Sink, type Source } from '@weir/core/contracts';
import { keyBy, keyedProcess, valueState, type Emit } from '@weir/core/operators';

// One attempt that takes one checkpoint after the other; prints what the process holds after some of them, and after many more.
// node e2e/dist/checkpoint-often.js 2000 100000

const [warm = 0, measured = 0] = process.argv.slice(2).map(Number);

/** What is alive after a collection. */
interface Held {
  readonly checkpoints: number;
  readonly promises: number;
  /** Also what signals remember of their listeners. */
  readonly functions: number;
  readonly megabytes: number;
}

const env = createEnvironment({
  logger: SILENT,
  parallelism: 2,
  plugins: [checkpointCoordinator(), memoryState(), memoryStorage()],
});
env.enableCheckpointing();

const onDemand = new Set<() => void>();
env
  .from(oneRecordEach(), { uid: 'numbers' })
  .pipe(
    keyBy((n) => n % 10),
    keyedProcess({
      uid: 'counts',
      state: { count: valueState({ initial: () => 0 }) },
      onRecord(n, { state: { count } }, emit: Emit<number>) {
        count.update(count.value() + 1);
        emit(n);
      },
    }),
  )
  .to(committedAndForgotten(), { uid: 'out' });

const job = await env.start('checkpoints');
await new Promise<void>((resolve) => {
  job.status$.subscribe((status) => {
    if (status === 'running') resolve();
  });
});
const before = await heldAfter(warm);
const end = await heldAfter(measured);
await job.cancel();
console.log(JSON.stringify({ before, end }));

async function heldAfter(more: number): Promise<Held> {
  for (let i = 0; i < more; i++) {
    for (const give of onDemand) give();
    await job.triggerCheckpoint();
  }
  // What the last checkpoint has left to do.
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
  // Counting collects first.
  const promises = queryObjects(Promise, { format: 'count' });
  const functions = queryObjects(Function, { format: 'count' });
  return {
    checkpoints: job.checkpointStatistics()?.counts.completed ?? 0,
    promises,
    functions,
    megabytes: process.memoryUsage().heapUsed / 1e6,
  };
}

/** Of each split one record, whenever it is asked for. */
function oneRecordEach(): Source<number, 'acknowledging', { readonly id: string }, number> {
  return {
    grade: 'acknowledging',
    bounded: false,
    enumerator: () => staticSplits([{ id: 'a' }, { id: 'b' }]),
    open: (_split, start = 0) => {
      let position = start;
      let isAsked = false;
      let wake: (() => void) | undefined;
      const give = (): void => {
        isAsked = true;
        wake?.();
      };
      onDemand.add(give);
      return Promise.resolve({
        async poll() {
          if (!isAsked)
            await new Promise<void>((resolve) => {
              wake = resolve;
            });
          if (!isAsked) return [];
          isAsked = false;
          return [position++];
        },
        position: () => position,
        completed: () => Promise.resolve(),
        close: () => {
          onDemand.delete(give);
          wake?.();
          return Promise.resolve();
        },
      });
    },
  };
}

function committedAndForgotten(): Sink<number, 'exactly-once', readonly number[]> {
  return {
    grade: 'exactly-once',
    open: () => {
      let records: number[] = [];
      return {
        write: (batch) => {
          records.push(...batch);
          return Promise.resolve();
        },
        prepareCommit: () => {
          const prepared = records;
          records = [];
          return prepared.length === 0 ? [] : [prepared];
        },
        close: () => undefined,
      };
    },
    destination: () => ({ id: 'place', name: 'a place', committed: [] }),
    committer: (): Committer<readonly number[]> => ({
      commit: (committables) => Promise.resolve(committables.map(() => ({ kind: 'committed' }))),
    }),
  };
}
