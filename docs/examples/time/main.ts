import { memoryBackend } from '@weir/backend-memory';
import { collected, collection } from '@weir/connectors/collection';
import { createEnvironment } from '@weir/core';
import { withTimestamps } from '@weir/core/operators';
import { clicksPerHour, type Click, type Hour } from './clicks-per-hour.js';

const MINUTE = 60_000;
const clicks: readonly Click[] = [
  { visitor: 'ada', at: 10 * MINUTE },
  { visitor: 'joe', at: 61 * MINUTE },
  { visitor: 'ada', at: 59 * MINUTE }, // two minutes behind, which is allowed for
  { visitor: 'ada', at: 135 * MINUTE },
];

const out = collected<Hour>();
const env = createEnvironment({ plugins: [memoryBackend()] });
env
  .from(collection(clicks))
  .pipe(
    withTimestamps({ timestampOf: ({ at }) => at, maxOutOfOrderness: '5 min', idleAfter: '1 min' }),
    clicksPerHour(),
  )
  .to(out.sink, { uid: 'out' });

await env.execute('clicks');
for (const { visitor, end, clicks: count } of out.records)
  console.log(`${visitor} before ${new Date(end + 1).toISOString().slice(11, 16)}: ${String(count)}`);
