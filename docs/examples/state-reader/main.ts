import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createFsStorage, fsBackend } from '@weir/backend-fs';
import { collected } from '@weir/connectors/collection';
import { datagen } from '@weir/connectors/datagen';
import { checkpointCoordinator } from '@weir/coordinator';
import { createEnvironment } from '@weir/core';
import { keyBy, keyedProcess, valueState, type Emit } from '@weir/core/operators';
import { compareCheckpoints, exportJsonLines, openCheckpoint } from '@weir/core/state-reader';
import { filter, firstValueFrom, skip } from 'rxjs';
import { takeOver } from './bootstrap.js';

const env = createEnvironment({ plugins: [checkpointCoordinator(), fsBackend({ checkpointsDir: './state' })] });
env.enableCheckpointing('20 ms');
env
  .from(datagen({ count: 10_000, ratePerSecond: 1000, map: (n) => (n % 2 === 0 ? 'AMS' : 'FRA') }), { uid: 'flights' })
  .pipe(
    keyBy((origin) => origin),
    keyedProcess({
      uid: 'total-by-origin',
      state: { total: valueState({ initial: () => 0 }) },
      onRecord(_origin, { state: { total } }, emit: Emit<number>) {
        total.update(total.value() + 1);
        emit(total.value());
      },
    }),
  )
  .to(collected<number>().sink, { uid: 'out' });

// It starts where something else has left off, runs a while, and is stopped.
const start = await takeOver(
  new Map([
    ['AMS', 1_000],
    ['OSL', 50],
  ]),
);
const job = await env.start('delays', { restoreFrom: start });
await firstValueFrom(
  job.events$.pipe(
    filter(({ kind }) => kind === 'checkpoint-completed'),
    skip(2),
  ),
);
const { pointer: end } = await job.stopWithSavepoint({ dir: './savepoints' });
await job.done;

// Neither needs the job: only where the files are.
const storage = createFsStorage({ checkpointsDir: './state' });
await using before = await openCheckpoint(start, { storage });
await using after = await openCheckpoint(end, { storage });

for (const { uid, states } of after.operators)
  for (const { name, kind, serializer } of states) console.log(`${uid} has ${kind} state ${name} (${serializer.id})`);

for await (const { key, value } of after.operator('total-by-origin').values<number, string>('total'))
  if (key === 'OSL') console.log(`${key} is at ${String(value)}`);

for await (const difference of compareCheckpoints(before, after).differences) {
  const { key } = difference.change === 'removed' ? difference.before : difference.after;
  console.log(`${difference.change} ${String(key)}`);
}

await pipeline(exportJsonLines(after), createWriteStream('./after.jsonl'));
