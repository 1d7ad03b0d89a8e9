import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fsBackend } from '@weir/backend-fs';
import { memoryBackend } from '@weir/backend-memory';
import { checkpointCoordinator } from '@weir/coordinator';
import { createEnvironment, type JobEvent, type PluginList } from '@weir/core';
import { nextTurn, SILENT, type Source, type SourceSplit } from '@weir/core/contracts';
import { keyBy, keyedProcess, map, valueState, type Emit } from '@weir/core/operators';
import { fixedDelayRestart } from '@weir/restart-strategies';
import { assertExactlyOnce, numbers, transactionalMemorySink } from '@weir/testkit';
import { afterEach, describe, expect, test } from 'vitest';

const RECORDS = 30_000;
const KEYS = 17;
const dir = mkdtempSync(join(tmpdir(), 'weir-'));
afterEach(() => {
  rmSync(dir, { recursive: true, force: true });
});

const backends: readonly [string, () => PluginList][] = [
  ['in memory', () => [memoryBackend()]],
  ['on the disk', () => [fsBackend({ checkpointsDir: dir })]],
];

describe.each(backends)('a job that fails twice, with its checkpoints %s', (where, backend) => {
  test.each([1, 3])('gives the output of one that never failed, at parallelism %i', async (parallelism) => {
    const env = createEnvironment({
      parallelism,
      logger: SILENT,
      plugins: [checkpointCoordinator(), backend(), fixedDelayRestart({ attempts: 5, delay: 0 })],
    });
    env.enableCheckpointing('10ms');
    // Each failure comes once a checkpoint has completed since the last one, so that every restart has something to resume.
    const failures = [3000, 6000];
    let completed = 0;
    const sink = transactionalMemorySink<readonly [number, number]>();
    env
      .from(
        holdingTheLast(numbers(RECORDS, { perPoll: 7, turnsBetween: 2 }), () => failures.length > 0 && completed === 0),
        { uid: 'numbers' },
      )
      .pipe(
        map((n) => {
          if (completed > 0 && failures[0] !== undefined && n >= failures[0]) {
            failures.shift();
            completed = 0;
            throw new Error(`${String(n)} is poisoned`);
          }
          return n;
        }),
        keyBy((n) => n % KEYS),
        keyedProcess({
          uid: 'count',
          state: { count: valueState({ initial: () => 0 }) },
          onRecord(_n, { key, state: { count } }, emit: Emit<readonly [number, number]>) {
            count.update(count.value() + 1);
            emit([key, count.value()]);
          },
        }),
      )
      .to(sink, { uid: 'out', guarantee: 'exactly-once' });
    const job = await env.start('restarts');
    const events: JobEvent[] = [];
    job.events$.subscribe((event) => {
      events.push(event);
      if (event.kind === 'checkpoint-completed') completed++;
    });

    expect(await job.done).toBe('finished');
    assertExactlyOnce(
      sink.visible,
      Array.from({ length: RECORDS }, (_, n) => [n % KEYS, Math.floor(n / KEYS) + 1]),
    );
    const count = (kind: JobEvent['kind']): number => events.filter((event) => event.kind === kind).length;
    expect(count('failure')).toBe(2);
    expect(count('restart')).toBe(2);
    expect(count('restored')).toBe(2);
    // A finished job leaves its mark, and nothing to resume.
    if (where === 'on the disk') expect(readdirSync(join(dir, 'restarts')).sort()).toEqual(['_finished', '_lock']);
  });
});

/** Gives its last thousand records only while `mustWait` says no: however slow checkpoints are, there is still something to fail at. */
function holdingTheLast<S extends SourceSplit>(
  source: Source<number, 'replayable', S, number>,
  mustWait: () => boolean,
): typeof source {
  return {
    ...source,
    async open(split, position, context) {
      const reader = await source.open(split, position, context);
      return {
        poll: (max) =>
          reader.position() >= RECORDS - 1000 && mustWait()
            ? nextTurn(context.clock).then((): readonly number[] => [])
            : reader.poll(max),
        position: () => reader.position(),
        close: () => reader.close(),
      };
    },
  };
}
