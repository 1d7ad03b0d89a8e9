import { fsBackend } from '@weir/backend-fs';
import { checkpointCoordinator } from '@weir/coordinator';
import { createEnvironment } from '@weir/core';
import { fixedDelayRestart } from '@weir/restart-strategies';
import { job } from './job.js';

const env = createEnvironment({
  plugins: [
    checkpointCoordinator(),
    fsBackend({ checkpointsDir: './state' }),
    fixedDelayRestart({ attempts: 2, delay: '5 s' }),
  ],
});
env.enableCheckpointing('1 s');
job(env);

const running = await env.start('delays');
running.events$.subscribe(({ kind }) => {
  console.log(kind);
});
console.log(await running.done);
