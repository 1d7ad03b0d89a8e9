import { collected, collection, crash } from '@weir/connectors/collection';
import { memoryBackend } from '@weir/backend-memory';
import { checkpointCoordinator } from '@weir/coordinator';
import { createEnvironment } from '@weir/core';
import { failureRateRestart } from '@weir/restart-strategies';

const env = createEnvironment({
  plugins: [
    checkpointCoordinator(),
    memoryBackend(),
    failureRateRestart({ maxFailuresPerInterval: 3, failureRateInterval: '5 min', delay: '10 ms' }),
  ],
});
env.enableCheckpointing(1000);

const out = collected<number>();
env
  .from(collection([1, crash(), 2, crash(), 3, crash(), 4]), { uid: 'numbers' })
  .to(out.sink, { uid: 'out', guarantee: 'exactly-once' });
await env.execute('failure-rate');
console.log(out.records.join(' '));
