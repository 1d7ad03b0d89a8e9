import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { KillJobOptions } from './kill-job.js';
import { STOPPED, type Phase, type Signal, type Target } from './phases.js';

export type Outcome =
  | { readonly kind: 'finished' }
  | { readonly kind: 'stopped'; readonly checkpoints: number; readonly savepoint: string | undefined }
  /** Output would have been repeated, or mixed with that of another run. */
  | { readonly kind: 'refused' }
  | {
      readonly kind: 'killed';
      readonly phase: Phase;
      readonly checkpoints: number;
      /** Everything had been restored. */
      readonly hasRun: boolean;
    }
  | { readonly kind: 'failed'; readonly code: number | null; readonly stderr: string };

const CHILD = fileURLToPath(new URL('./child.js', import.meta.url));

/** A process that does not run by then is killed, too. */
const START_PATIENCE_MS = 60_000;

/** Starts a process of the job and kills it `delayMs` after it reached the target, or wherever it is `patienceMs` after everything was restored. */
export function runOnce(
  options: Omit<KillJobOptions, 'target'>,
  kill: { readonly target: Target; readonly delayMs: number; readonly patienceMs: number } | undefined,
): Promise<Outcome> {
  const target = kill?.target ?? { phase: 'start', nth: 0, lingerMs: 0 };
  const child = spawn(process.execPath, [CHILD, JSON.stringify({ ...options, target } satisfies KillJobOptions)], {
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
  });
  let phase: Phase = 'start';
  let checkpoints = 0;
  let occurrences = 0;
  let stderr = '';
  let savepoint: string | undefined;
  let hasRun = false;
  let isKilled = false;
  const killIn = (ms: number): NodeJS.Timeout =>
    setTimeout(() => {
      isKilled = child.kill('SIGKILL');
    }, ms);
  let patience = kill === undefined ? undefined : killIn(START_PATIENCE_MS);

  const hear = (signal: Signal): void => {
    if (signal === 'checkpoint') {
      checkpoints++;
      return;
    }
    if (isStop(signal)) {
      savepoint = signal.slice('stopped '.length);
      return;
    }
    phase = signal;
    if (signal === 'run' && !hasRun) {
      hasRun = true;
      clearTimeout(patience);
      // However long a machine that has more to do took for the start.
      if (kill !== undefined) patience = killIn(kill.patienceMs);
    }
    if (kill !== undefined && signal === target.phase && ++occurrences === target.nth) killIn(kill.delayMs);
  };
  let rest = '';
  child.stdio[3]?.on('data', (chunk: Buffer) => {
    const lines = (rest + chunk.toString()).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) hear(line as Signal);
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });

  return new Promise((resolve) => {
    child.once('close', (code, signal) => {
      clearTimeout(patience);
      if (isKilled && signal === 'SIGKILL') resolve({ kind: 'killed', phase, checkpoints, hasRun });
      else if (code === 0) resolve({ kind: 'finished' });
      else if (code === STOPPED) resolve({ kind: 'stopped', checkpoints, savepoint });
      else if (/CHECKPOINT_NOT_NEWEST|SINK_DIRECTORY_OCCUPIED/.test(stderr)) resolve({ kind: 'refused' });
      else resolve({ kind: 'failed', code, stderr });
    });
  });
}

function isStop(signal: Signal): signal is `stopped ${string}` {
  return signal.startsWith('stopped ');
}
