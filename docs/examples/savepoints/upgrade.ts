import { rename } from 'node:fs/promises';
import { fsBackend } from '@weir/backend-fs';
import { datagen } from '@weir/connectors/datagen';
import { fileSink, readCommitted, textLines } from '@weir/connectors/file';
import { checkpointCoordinator } from '@weir/coordinator';
import { createEnvironment, type JobHandle, type StartOptions } from '@weir/core';
import { filter, firstValueFrom } from 'rxjs';

function start(options?: StartOptions): Promise<JobHandle> {
  const storage = fsBackend({ checkpointsDir: './state', savepointsDir: './savepoints' });
  const env = createEnvironment({ plugins: [checkpointCoordinator(), storage] });
  env.enableCheckpointing('20 ms');
  env
    .from(datagen({ count: 300, ratePerSecond: 600, map: String }), { uid: 'numbers' })
    .to(fileSink({ dir: './out', format: textLines() }), { uid: 'out' });
  return env.start('count', options);
}

const before = await start();
await firstValueFrom(before.events$.pipe(filter(({ kind }) => kind === 'checkpoint-completed')));
const { pointer } = await before.stopWithSavepoint();
console.log(await before.done);

// It is yours now: keep it, copy it to another machine, start from it as often as you like.
await rename(pointer, './before-the-upgrade');

const after = await start({ restoreFrom: './before-the-upgrade' });
console.log(await after.done);

const numbers = await readCommitted('./out', textLines());
console.log(`${String(numbers.length)} numbers, ${String(new Set(numbers).size)} different`);
