import { startKillJob, type KillJobOptions } from './kill-job.js';
import { STOPPED } from './phases.js';

const job = await startKillJob(JSON.parse(process.argv[2] ?? '{}') as KillJobOptions);
if ((await job.done) === 'stopped') process.exitCode = STOPPED;
