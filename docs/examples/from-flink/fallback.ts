import { collected, collection, crash } from '@weir/connectors/collection';
import { memoryBackend } from '@weir/backend-memory';
import { checkpointCoordinator } from '@weir/coordinator';
import { createEnvironment } from '@weir/core';
import { fallbackRestart, fixedDelayRestart } from '@weir/restart-strategies';

const env = createEnvironment({
  plugins: [checkpointCoordinator(), memoryBackend(), fixedDelayRestart()],
  config: { 'restart-strategy.fixed-delay.attempts': 3, 'restart-strategy.fixed-delay.delay': '10 ms' },
});
env.enableCheckpointing(1000);

const out = collected<string>();
env.from(collection(['a', crash(), 'b']), { uid: 'letters' }).to(out.sink, { uid: 'out', guarantee: 'exactly-once' });
const job = await env.start('fallback', { restart: fallbackRestart() });
await job.done;
console.log(out.records.join(' '));
