import { memoryBackend } from '@weir/backend-memory';
import { datagen } from '@weir/connectors/datagen';
import { print } from '@weir/connectors/print';
import { checkpointCoordinator } from '@weir/coordinator';
import { createEnvironment } from '@weir/core';
import { keyBy, map, scan } from '@weir/core/operators';
import { fixedDelayRestart } from '@weir/restart-strategies';

const env = createEnvironment({
  plugins: [checkpointCoordinator(), memoryBackend(), fixedDelayRestart({ attempts: 2, delay: '100 ms' })],
});
env.enableCheckpointing(10, 'exactly-once');

// Of this process, not of an attempt: a restart makes no new functions, so it counts on.
let seen = 0;
env
  .from(datagen({ ratePerSecond: 1000, map: (n) => ({ word: n % 2 === 0 ? 'even' : 'odd', count: 1 }) }), {
    uid: 'words',
  })
  .pipe(
    map((record) => {
      seen += 1;
      if (seen % 100 === 0) throw new Error(`the ${String(seen)}th record`);
      return record;
    }),
    keyBy(({ word }) => word),
    scan(
      (sum, { word, count }) => ({ word, count: sum.count + count }),
      () => ({ word: '', count: 0 }),
      { uid: 'sum' },
    ),
  )
  .to(print(), { uid: 'printed' });

const job = await env.start('first-job');
await job.done.catch((error: unknown) => {
  console.log((error as Error).message);
});
