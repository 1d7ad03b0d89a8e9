import { memoryBackend } from '@weir/backend-memory';
import { collected, collection } from '@weir/connectors/collection';
import { checkpointCoordinator } from '@weir/coordinator';
import { createEnvironment } from '@weir/core';
import { SILENT } from '@weir/core/contracts';
import { filter } from '@weir/core/operators';
import { fixedDelayRestart } from '@weir/restart-strategies';
import { assertExactlyOnce, failOnce, seededRandom, VirtualClock } from '@weir/testkit';
import { expect, test } from 'vitest';
import { retry, type Outcome } from '../src/loops/retry.js';

interface Letter {
  readonly id: string;
  /** How often the post office refuses it. */
  readonly refusals: number;
}
const letters: readonly Letter[] = [
  { id: 'a', refusals: 0 },
  { id: 'b', refusals: 2 },
  { id: 'c', refusals: 9 },
  { id: 'd', refusals: 3 },
];

/** What became of the letters, and when each was tried. */
async function send(
  parallelism: number,
  poison: (outcome: Outcome<Letter>) => boolean = () => false,
): Promise<{
  done: readonly Outcome<Letter>[];
  dead: readonly Outcome<Letter>[];
  tried: ReadonlyMap<string, number[]>;
}> {
  const clock = new VirtualClock();
  const tried = new Map<string, number[]>();
  const env = createEnvironment({
    plugins: [checkpointCoordinator(), memoryBackend(), fixedDelayRestart({ attempts: 5, delay: '10 ms' })],
    logger: SILENT,
    parallelism,
    clock,
    random: seededRandom(1),
  });
  env.enableCheckpointing('50 ms');
  const outcomes = env.from(collection(letters), { uid: 'letters' }).pipe(
    retry<Letter>({
      idOf: ({ id }) => id,
      attempt: ({ id, refusals }) => {
        const times = tried.get(id) ?? [];
        tried.set(id, [...times, clock.now()]);
        if (times.length < refusals) throw new Error(`no room for ${id}`);
      },
      attempts: 4,
      firstBackoffMs: 100,
    }),
    failOnce(poison),
  );
  const [done, dead] = [collected<Outcome<Letter>>(), collected<Outcome<Letter>>()];
  outcomes.pipe(filter(({ kind }) => kind === 'done')).to(done.sink, { uid: 'done', guarantee: 'exactly-once' });
  outcomes.pipe(filter(({ kind }) => kind === 'dead')).to(dead.sink, { uid: 'dead', guarantee: 'exactly-once' });
  let isOver = false;
  const job = await env.start('letters');
  const over = job.done.finally(() => (isOver = true));
  await clock.until(() => isOver);
  expect(await over).toBe('finished');
  return { done: done.records, dead: dead.records, tried };
}

test('each item is tried until it succeeds, with pauses that double, and given up in the end', async () => {
  const { done, dead, tried } = await send(1);
  assertExactlyOnce(done, [
    { kind: 'done', item: letters[0], attempts: 1 },
    { kind: 'done', item: letters[1], attempts: 3 },
    { kind: 'done', item: letters[3], attempts: 4 },
  ]);
  assertExactlyOnce(dead, [{ kind: 'dead', item: letters[2], attempts: 4, reason: 'Error: no room for c' }]);
  const pauses = (id: string): number[] =>
    (tried.get(id) ?? []).map((time, i, all) => time - (all[i - 1] ?? time)).slice(1);
  expect(pauses('a')).toEqual([]);
  expect(pauses('b')).toEqual([100, 200]);
  expect(pauses('c')).toEqual([100, 200, 400]);
});

test.each([1, 3])(
  'a job that dies while items wait forgets neither them nor how often they were tried (parallelism %i)',
  async (parallelism) => {
    // The second letter comes through after 300 ms, when others wait and several checkpoints are complete.
    const { done, dead } = await send(parallelism, ({ item }) => item.id === 'b');
    assertExactlyOnce(
      [...done, ...dead].map(({ item, kind }) => `${item.id} ${kind}`),
      ['a done', 'b done', 'c dead', 'd done'],
    );
    // It was tried once more than it counts, since that try was forgotten with the crash.
    expect(done.find(({ item }) => item.id === 'b')?.attempts).toBe(3);
  },
);
