import { fsBackend } from '@weir/backend-fs';
import { datagen } from '@weir/connectors/datagen';
import { fileSink, readCommitted, textLines } from '@weir/connectors/file';
import { checkpointCoordinator } from '@weir/coordinator';
import { createEnvironment, type JobHandle, type StartOptions } from '@weir/core';
import { filter, firstValueFrom } from 'rxjs';

/** Counts to 300 in a second. What a program does each time it is started. */
function start(options?: StartOptions): Promise<JobHandle> {
  const env = createEnvironment({ plugins: [checkpointCoordinator(), fsBackend({ checkpointsDir: './state' })] });
  env.enableCheckpointing('20 ms');
  env
    .from(datagen({ count: 300, ratePerSecond: 300, map: String }), { uid: 'numbers' })
    .to(fileSink({ dir: './out', format: textLines() }), { uid: 'out' });
  return env.start('count', options);
}

const shutdown = new AbortController();
const first = await start({ signal: shutdown.signal });
await firstValueFrom(first.events$.pipe(filter(({ kind }) => kind === 'checkpoint-completed')));
shutdown.abort();
console.log(await first.done);

const second = await start();
console.log(await second.done);

const numbers = await readCommitted('./out', textLines());
console.log(`${String(numbers.length)} numbers, ${String(new Set(numbers).size)} different`);
