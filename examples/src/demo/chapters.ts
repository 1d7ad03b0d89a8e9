import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fsBackend } from '@weir/backend-fs';
import { memoryState } from '@weir/backend-memory';
import { checkpointCoordinator } from '@weir/coordinator';
import { createEnvironment, noRestart, type JobEvent } from '@weir/core';
import { SILENT as logger } from '@weir/core/contracts';
import { fixedDelayRestart } from '@weir/restart-strategies';
import type { ChildOptions, Message } from './child.js';
import type { Flight } from './flights.js';
import { CHECKPOINT_EVERY, describeJob } from './job.js';
import { StageLights } from './stage-lights.js';

export interface Scene {
  readonly count: number;
  /** A folder of the chapter's own. */
  readonly dir: string;
}
export interface ChapterResult {
  readonly ending: 'finished' | 'failed';
  readonly failures: number;
  readonly checkpoints: number;
}

/** 1: nothing is prepared for a failure, so the poisoned record ends the job. */
export function noStrategy(scene: Scene): Promise<ChapterResult> {
  const env = createEnvironment({ logger, plugins: [memoryState(), noRestart()] });
  return perform(env, scene, Number.POSITIVE_INFINITY);
}

/** 2: the job starts over twice, and publishes again what it had published. */
export function restartsAlone(scene: Scene): Promise<ChapterResult> {
  const env = createEnvironment({
    logger,
    plugins: [memoryState(), fixedDelayRestart({ attempts: 2, delay: '100ms' })],
  });
  return perform(env, scene, 2);
}

/** 3: the same, with a photograph every 30 ms. */
export function withCheckpoints(scene: Scene): Promise<ChapterResult> {
  const env = createEnvironment({
    logger,
    plugins: [
      checkpointCoordinator(),
      fsBackend({ checkpointsDir: join(scene.dir, 'state') }),
      fixedDelayRestart({ attempts: 2, delay: '100ms' }),
    ],
  });
  env.enableCheckpointing(CHECKPOINT_EVERY);
  return perform(env, scene, 2);
}

/** 4: the process itself is killed, five times. */
export async function killed(scene: Scene, kills: number): Promise<ChapterResult> {
  const lights = new StageLights(scene.count);
  const script = fileURLToPath(new URL('./child.js', import.meta.url));
  const options: ChildOptions = { count: scene.count, out: join(scene.dir, 'out'), state: join(scene.dir, 'state') };
  for (let killedSoFar = 0; ;) {
    const child = spawn(process.execPath, [script, JSON.stringify(options)], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const wanted = killedSoFar < kills ? 1 + Math.floor(Math.random() * 3) : Number.POSITIVE_INFINITY;
    let seen = 0;
    child.on('message', (message: Message) => {
      switch (message.kind) {
        case 'read':
          lights.read(message.rows);
          return;
        case 'resumed':
          lights.say(`resumed from checkpoint ${String(message.checkpoint)}`);
          return;
        case 'checkpoint':
          lights.checkpoint();
          // Somewhere after a checkpoint, in the middle of whatever comes next.
          if (++seen === wanted) setTimeout(() => child.kill('SIGKILL'), Math.random() * 60);
      }
    });
    const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
    if (signal === 'SIGKILL') {
      killedSoFar++;
      lights.say(`kill -9 number ${String(killedSoFar)}`);
      continue;
    }
    lights.off();
    return { ending: code === 0 ? 'finished' : 'failed', failures: killedSoFar, checkpoints: lights.checkpoints };
  }
}

async function perform(
  env: ReturnType<typeof createEnvironment>,
  scene: Scene,
  encounters: number,
): Promise<ChapterResult> {
  const lights = new StageLights(scene.count);
  const poisoned = Math.floor(scene.count * 0.6);
  let met = 0;
  describeJob(env, {
    count: scene.count,
    out: join(scene.dir, 'out'),
    onRead: (rows) => {
      lights.read(rows);
    },
    look: ({ index }: Flight) => {
      if (index === poisoned && met < encounters) {
        met++;
        throw new Error(`flight ${String(index)} is poisoned`);
      }
    },
  });
  const job = await env.start('flights');
  let failures = 0;
  job.events$.subscribe((event: JobEvent) => {
    if (event.kind === 'checkpoint-completed') lights.checkpoint();
    if (event.kind === 'failure') lights.say(`failure ${String(++failures)}: flight ${String(poisoned)} is poisoned`);
    if (event.kind === 'restored')
      lights.say(`failure ${String(failures)}, resumed from checkpoint ${String(event.checkpointId)}`);
    else if (event.kind === 'attempt-started' && failures > 0 && event.restoredCheckpoint === undefined)
      lights.say(`failure ${String(failures)}, started over`);
  });
  const ending = await job.done.then(
    () => 'finished' as const,
    () => 'failed' as const,
  );
  lights.off();
  return { ending, failures, checkpoints: lights.checkpoints };
}
