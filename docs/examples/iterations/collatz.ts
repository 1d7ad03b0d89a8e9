import { memoryBackend } from '@weir/backend-memory';
import { collected, collection, crash } from '@weir/connectors/collection';
import { checkpointCoordinator } from '@weir/coordinator';
import { createEnvironment } from '@weir/core';
import { filter, iterate, map } from '@weir/core/operators';
import { fixedDelayRestart } from '@weir/restart-strategies';

interface Walk {
  readonly start: number;
  readonly at: number;
  readonly steps: number;
}

const arrived = collected<Walk>();
const env = createEnvironment({
  plugins: [checkpointCoordinator(), memoryBackend(), fixedDelayRestart({ attempts: 1, delay: 0 })],
});
env.enableCheckpointing('10 ms');
env
  .from(collection([6, 7, crash(), 27]), { uid: 'numbers' })
  .pipe(
    map((n): Walk => ({ start: n, at: n, steps: 0 })),
    iterate<Walk, Walk>(
      (input) => {
        const moved = input.pipe(
          map((walk) => ({
            ...walk,
            at: walk.at % 2 === 0 ? walk.at / 2 : 3 * walk.at + 1,
            steps: walk.steps + 1,
          })),
        );
        return {
          feedback: moved.pipe(filter(({ at }) => at !== 1)),
          output: moved.pipe(filter(({ at }) => at === 1)),
        };
      },
      { uid: 'walk' },
    ),
  )
  .to(arrived.sink, { uid: 'out', guarantee: 'exactly-once' });

await env.execute('collatz');
for (const { start, steps } of arrived.records.toSorted((a, b) => a.start - b.start)) {
  console.log(`${String(start)} takes ${String(steps)} steps`);
}
