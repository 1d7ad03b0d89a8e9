import { checkpointCoordinator } from '@weir/coordinator';
import { checkOperator, watermark } from '@weir/testkit';
import { test } from 'vitest';
import { mapCheckpoints } from '../examples/plugins/map-storage.js';
import { clicksPerHour } from '../examples/time/clicks-per-hour.js';

const MINUTE = 60_000;

test('each hour is told once, with all of its clicks, however the job is run, crashed and restored', async () => {
  await checkOperator((clicks) => clicks.pipe(clicksPerHour()), {
    plugins: [checkpointCoordinator(), mapCheckpoints()],
    timestampOf: ({ at }) => at,
    input: [
      { visitor: 'ada', at: 10 * MINUTE },
      { visitor: 'joe', at: 61 * MINUTE },
      { visitor: 'ada', at: 59 * MINUTE },
      watermark(60 * MINUTE),
      { visitor: 'ada', at: 58 * MINUTE },
      { visitor: 'joe', at: 70 * MINUTE },
    ],
    expected: [
      { visitor: 'ada', end: 60 * MINUTE - 1, clicks: 2 },
      { visitor: 'joe', end: 120 * MINUTE - 1, clicks: 2 },
    ],
  });
});
