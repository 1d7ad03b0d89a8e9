import { startKillJob, type KillJobOptions } from './kill-job.js';

const job = await startKillJob(JSON.parse(process.argv[2] ?? '{}') as KillJobOptions);
await job.done;
