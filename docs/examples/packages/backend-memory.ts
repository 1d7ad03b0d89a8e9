import { memoryBackend } from '@weir/backend-memory';
import { collected, collection, crash } from '@weir/connectors/collection';
import { checkpointCoordinator } from '@weir/coordinator';
import { createEnvironment } from '@weir/core';
import { keyBy, scan } from '@weir/core/operators';
import { fixedDelayRestart } from '@weir/restart-strategies';

const out = collected<number>();
const env = createEnvironment({
  plugins: [checkpointCoordinator(), memoryBackend(), fixedDelayRestart({ attempts: 1, delay: 0 })],
});
env.enableCheckpointing('10 ms');
env
  .from(collection([1, 2, crash(), 3, 4]), { uid: 'in' })
  .pipe(
    keyBy((n) => n % 2 === 0),
    scan(
      (sum: number, n: number) => sum + n,
      () => 0,
      { uid: 'sums' },
    ),
  )
  .to(out.sink, { uid: 'out', guarantee: 'exactly-once' });

await env.execute('sums');
console.log(out.records.toSorted().join(' '));
