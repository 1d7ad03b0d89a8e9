import { answer, argument } from '../child.js';
import { startJob } from '../job.js';

const { dir, startedAt } = argument<{ readonly dir: string; readonly startedAt: number }>();
let ms: number | undefined;
const job = await startJob({
  records: [{ key: 'first', value: 1 }],
  checkpointsDir: dir,
  checkpointEveryMs: 1000,
  onWrite: () => {
    ms ??= Date.now() - startedAt;
  },
});
while (ms === undefined) await new Promise((resolve) => setImmediate(resolve));
await job[Symbol.asyncDispose]();
answer({ ms });
