import { createFsStorage } from '@weir/backend-fs';
import { fromResumable } from '@weir/connectors/rxjs';
import { checkpointCoordinator } from '@weir/coordinator';
import { CheckpointStorageRole, createEnvironment, type JobHandle } from '@weir/core';
import { SILENT, staticSplits, type Source } from '@weir/core/contracts';
import { CrashFileSystem, transactionalMemorySink } from '@weir/testkit';
import { filter, firstValueFrom, map, ReplaySubject, skip } from 'rxjs';
import { expect, test } from 'vitest';

/** A log that grows for as long as it is not ended, whoever reads it. */
class Log {
  readonly entries = new ReplaySubject<number>();
  length = 0;
  append(count: number): void {
    for (let i = 0; i < count; i++) this.entries.next(this.length++);
  }
}

/** Begins at the end that the log has when the job is described. */
const described = (log: Log): Source<number, 'replayable'> =>
  fromResumable({
    start: log.length,
    open: (at) =>
      log.entries.pipe(
        skip(at),
        map((value) => ({ value, resumeAt: value + 1 })),
      ),
  });

/** Begins at the end that the log has when its only split is opened, which takes a while. */
function opened(log: Log): Source<number, 'replayable'> {
  const inner = described(log);
  const source: Source<number, 'replayable', { readonly id: string }, number> = {
    ...inner,
    enumerator: () => staticSplits([{ id: 'log' }]),
    async open(split, position, context) {
      const start = position ?? log.length;
      for (let turn = 0; turn < 20; turn++) await Promise.resolve();
      return inner.open({ ...split, start } as never, undefined, context) as never;
    },
  };
  return source;
}

/** Processes of one job, one after the other over the same disk, that commit to the same outside. */
class Processes {
  readonly #storage = createFsStorage({ checkpointsDir: '/checkpoints', fileSystem: new CrashFileSystem() });
  readonly sink = transactionalMemorySink<number>();

  async start(source: Source<number, 'replayable'>): Promise<{ readonly job: JobHandle; kill(): Promise<void> }> {
    const disk = {
      name: 'disk',
      install: (binder: Parameters<NonNullable<ReturnType<typeof checkpointCoordinator>['install']>>[0]) =>
        binder.provide(CheckpointStorageRole, 'disk', () => this.#storage),
    };
    const env = createEnvironment({ parallelism: 1, logger: SILENT, plugins: [checkpointCoordinator(), disk] });
    env.enableCheckpointing();
    env.from(source, { uid: 'log' }).to(this.sink, { uid: 'out', guarantee: 'exactly-once' });
    const job = await env.start('follow');
    await firstValueFrom(job.status$.pipe(filter((status) => status === 'running')));
    return { job, kill: () => job[Symbol.asyncDispose]() };
  }
}

test.each([
  ['is described', described],
  ['is opened', opened],
])(
  'a source that begins at the end that its log has when it %s goes on from there after a restart, with nothing read before',
  async (_when, sourceOf) => {
    const log = new Log();
    const processes = new Processes();
    log.append(5);
    const first = await processes.start(sourceOf(log));
    // The first subtask that runs is the source's: what it does first is to open its split.
    await new Promise((resolve) => setImmediate(resolve));
    await first.job.triggerCheckpoint();
    await first.kill();
    log.append(3);
    const second = await processes.start(sourceOf(log));
    log.append(1);
    log.entries.complete();
    expect(await second.job.done).toBe('finished');
    expect(processes.sink.visible).toEqual([5, 6, 7, 8]);
  },
);

test('a source that begins at the end of its log goes on from there although its first checkpoint came before its first turn', async () => {
  const log = new Log();
  const processes = new Processes();
  log.append(5);
  const first = await processes.start(described(log));
  await first.job.triggerCheckpoint();
  await first.kill();
  log.append(3);
  const second = await processes.start(described(log));
  log.entries.complete();
  expect(await second.job.done).toBe('finished');
  expect(processes.sink.visible).toEqual([5, 6, 7]);
});

test('a reader hears of its last position before a job with an end ends', async () => {
  const told: (readonly [string, number])[] = [];
  const lengths = { a: 3, b: 0, c: 2000 };
  const source: Source<number, 'replayable', { readonly id: string }, number> = {
    grade: 'replayable',
    bounded: true,
    enumerator: () => staticSplits(Object.keys(lengths).map((id) => ({ id }))),
    async open({ id }, position = 0) {
      const end = lengths[id as keyof typeof lengths];
      let next = position;
      return {
        poll: (max) => (next === end ? 'end' : Array.from({ length: Math.min(max, end - next) }, () => next++)),
        position: () => next,
        completed: (_checkpointId, upTo) => void told.push([id, upTo]),
        close: async () => undefined,
      };
    },
  };
  const { job } = await new Processes().start(source);
  expect(await job.done).toBe('finished');
  expect(new Map(told)).toEqual(new Map(Object.entries(lengths)));
});
