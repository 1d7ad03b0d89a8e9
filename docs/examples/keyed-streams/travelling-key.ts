import { memoryBackend } from '@weir/backend-memory';
import { collected, collection } from '@weir/connectors/collection';
import { checkpointCoordinator } from '@weir/coordinator';
import { createEnvironment } from '@weir/core';
import { filter, groupBy, map, scan } from '@weir/core/operators';

const env = createEnvironment({ parallelism: 2, plugins: [checkpointCoordinator(), memoryBackend()] });
env.enableCheckpointing('1 s');

const orders = [
  { user: 'ada', cents: 250 },
  { user: 'bob', cents: 100 },
  { user: 'ada', cents: 900 },
  { user: 'ada', cents: 10 },
];
const out = collected<string>();
env
  .from(collection(orders), { uid: 'orders' })
  .pipe(
    groupBy(
      ({ user }) => user,
      (ofUser) =>
        ofUser.pipe(
          // From here on a record is a number. Its user goes with it all the same.
          map(({ cents }) => cents),
          filter((cents) => cents >= 100),
          scan((sum, cents) => sum + cents, 0, { uid: 'sums' }),
          scan((_line, sum, user) => `${user}: ${String(sum)}`, '', { uid: 'lines' }),
        ),
    ),
  )
  .to(out.sink, { uid: 'out' });

const job = await env.start('orders');
await job.done;
console.log(out.records.toSorted().join('\n'));
