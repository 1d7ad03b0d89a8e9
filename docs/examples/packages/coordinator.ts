import { memoryBackend } from '@weir/backend-memory';
import { collected } from '@weir/connectors/collection';
import { datagen } from '@weir/connectors/datagen';
import { checkpointCoordinator } from '@weir/coordinator';
import { createEnvironment } from '@weir/core';
import { filter, firstValueFrom } from 'rxjs';

const env = createEnvironment({ plugins: [checkpointCoordinator(), memoryBackend()] });
env.enableCheckpointing('10 s', { timeout: '1 min', tolerableFailures: 3, numRetained: 2 });
const out = collected<number>();
env.from(datagen({ ratePerSecond: 1000 }), { uid: 'numbers' }).to(out.sink, { uid: 'out' });

const job = await env.start('endless');
await firstValueFrom(job.status$.pipe(filter((status) => status === 'running')));
const { checkpointId, trigger } = await job.triggerCheckpoint();
console.log(`${trigger} checkpoint ${String(checkpointId)}`);
console.log(job.checkpointStatistics()?.counts);
await job.cancel();
