import { createFsStorage, type ProcessTable } from '@weir/backend-fs';
import { createMemoryStateBackend } from '@weir/backend-memory';
import { fileSink, jsonLines } from '@weir/connectors/file';
import { checkpointCoordinator } from '@weir/coordinator';
import { CheckpointStorageRole, createEnvironment, StateBackendRole, type JobEnd, type Plugin } from '@weir/core';
import { SILENT, staticSplits, type FileSystem, type Source } from '@weir/core/contracts';
import { keyBy, keyedProcess, valueState, type Emit } from '@weir/core/operators';
import { seededRandom, VirtualClock, type CrashFileSystem } from '@weir/testkit';

export const RECORDS = 24;
const KEYS = 3;

export interface Line {
  readonly id: number;
  readonly key: number;
  readonly count: number;
}

/** How wide a life is; chained where neighbours are alike. */
export interface Shape {
  readonly splits: number;
  readonly source: number;
  readonly count: number;
  readonly sink: number;
  /** Between which the records are dealt out. Default 3. */
  readonly keys?: number | undefined;
}
export const NARROW: Shape = { splits: 1, source: 1, count: 1, sink: 1 };

export type Ending =
  | { readonly kind: 'stopped' }
  | { readonly kind: 'ended'; readonly end: JobEnd }
  | { readonly kind: 'failed'; readonly error: unknown };

/** What users do before and while the job runs. */
export interface LifeOptions {
  readonly shape?: Shape | undefined;
  /** Checkpoints are made of what earlier ones have stored. */
  readonly incremental?: boolean | undefined;
  /** A path, once the savepoint was moved. Default `auto`. */
  readonly restoreFrom?: string | undefined;
  /** A savepoint after so many ms. */
  readonly savepointAt?: number | undefined;
  /** Stop with a savepoint after so many ms. */
  readonly stopAt?: number | undefined;
  readonly drain?: boolean | undefined;
  /** Where each savepoint is, in the order in which they were taken. */
  readonly onSavepoint?: ((pointer: string) => void) | undefined;
}

let pid = 1000;

/**
 * One process of a small job (numbers → keyed count → files) on a disk, on a clock of its own, until it ends or the disk stops it. A checkpoint
 * every 20 ms, a record of each split every 4 ms: several complete before the final one. The same disk and the same stop give the same life.
 */
export async function live(
  disk: CrashFileSystem,
  fileSystem: FileSystem = disk,
  options: LifeOptions = {},
): Promise<Ending> {
  const { shape = NARROW } = options;
  const clock = new VirtualClock(1_700_000_000_000);
  const random = seededRandom(7);
  const self = { pid: pid++, startedAt: '1', bootId: 'boot', pidNamespace: '1', host: 'h' };
  const processes: ProcessTable = { self, isAlive: (other) => other.pid === self.pid };
  const newId = (): string => `${String(self.pid)}-${String(Math.floor(random() * 2 ** 40))}`;
  const storage: Plugin = {
    name: 'storage',
    install(binder) {
      binder.provide(StateBackendRole, 'memory', () => createMemoryStateBackend());
      binder.provide(CheckpointStorageRole, 'fs', () =>
        // Every blob is a file, so that none is spared.
        createFsStorage({
          checkpointsDir: '/data/state',
          savepointsDir: '/data/savepoints',
          fileSystem,
          inlineThreshold: 0,
          newId,
          processes,
        }),
      );
    },
  };
  const env = createEnvironment({ plugins: [checkpointCoordinator(), storage], clock, random, newId, logger: SILENT });
  env.enableCheckpointing(20, { incremental: options.incremental });
  env
    .from(paced(RECORDS, shape.splits), { uid: 'numbers', parallelism: shape.source })
    .pipe(
      keyBy((id) => id % (shape.keys ?? KEYS)),
      keyedProcess({
        uid: 'count',
        parallelism: shape.count,
        state: { count: valueState({ initial: () => 0 }) },
        onRecord(id, { key, state: { count } }, emit: Emit<Line>) {
          count.update(count.value() + 1);
          emit({ id, key, count: count.value() });
        },
      }),
    )
    .to(fileSink({ dir: '/sink/out', format: jsonLines<Line>(), fileSystem }), { uid: 'out', parallelism: shape.sink });

  let ending: Ending | undefined;
  const job = await env.start('lives', { restoreFrom: options.restoreFrom });
  job.done.then(
    (end) => (ending = { kind: 'ended', end }),
    (error: unknown) => (ending = { kind: 'failed', error }),
  );
  const { savepointAt, stopAt, drain, onSavepoint } = options;
  const tell = (taken: Promise<{ readonly pointer: string }>): void => {
    // One that fails is for the test to see on the disk.
    taken.then(({ pointer }) => onSavepoint?.(pointer)).catch(() => undefined);
  };
  if (savepointAt !== undefined) {
    clock.timer(savepointAt, () => {
      tell(job.triggerSavepoint());
    });
  }
  if (stopAt !== undefined) {
    clock.timer(stopAt, () => {
      tell(job.stopWithSavepoint({ drain }));
    });
  }
  void disk.stopped.then(() => (ending ??= { kind: 'stopped' }));
  await clock.until(() => ending !== undefined);
  return ending as unknown as Ending;
}

/** The numbers below `count`, dealt out to the splits one after the other. */
function paced(count: number, splits: number): Source<number, 'replayable', SequenceSplit, number> {
  return {
    grade: 'replayable',
    bounded: true,
    enumerator: () =>
      staticSplits(Array.from({ length: splits }, (_, first) => ({ id: `numbers-${String(first)}`, first }))),
    open: ({ first }, start = first, { clock }) => {
      let next = start;
      const take = (): readonly number[] => {
        const taken = next;
        next += splits;
        return [taken];
      };
      return Promise.resolve({
        poll: () =>
          new Promise<readonly number[] | 'end'>((resolve) => {
            clock.timer(4, () => {
              resolve(next < count ? take() : 'end');
            });
          }),
        position: () => next,
        close: () => Promise.resolve(),
      });
    },
  };
}
interface SequenceSplit {
  readonly id: string;
  readonly first: number;
}

/**
 * What is wrong with the published output: nothing, once the job has finished. With several splits nobody can say which record of a key comes
 * first, but that each record comes once, and each count of each key.
 */
export async function faultsOf(
  disk: CrashFileSystem,
  { splits, keys = KEYS }: Pick<Shape, 'splits' | 'keys'> = NARROW,
): Promise<readonly string[]> {
  const entries = await disk.readDirectory('/sink/out').catch(() => []);
  const names = entries.map(({ name }) => name).filter((name) => !name.startsWith('.'));
  const lines: Line[] = [];
  for (const name of names) {
    const text = Buffer.from(await disk.readFile(`/sink/out/${name}`)).toString();
    if (text !== '' && !text.endsWith('\n')) return [`${name} ends in the middle of a line`];
    for (const line of text.split('\n')) if (line !== '') lines.push(JSON.parse(line) as Line);
  }
  const factsOf = ({ id, key, count }: Line): readonly string[] => {
    const counted = `${String(key)}/${String(count)}`;
    return splits === 1 ? [`${String(id)}/${counted}`] : [String(id), counted];
  };
  const seen = lines.flatMap(factsOf).sort();
  const expected = Array.from({ length: RECORDS }, (_, id) =>
    factsOf({ id, key: id % keys, count: Math.floor(id / keys) + 1 }),
  )
    .flat()
    .sort();
  const lost = expected.filter((line) => !seen.includes(line)).map((line) => `lost ${line}`);
  const extra = seen
    .filter((line, i) => !expected.includes(line) || seen.indexOf(line) !== i)
    .map((line) => `repeated ${line}`);
  return [...lost, ...extra];
}
