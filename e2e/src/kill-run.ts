import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeInput } from './input.js';
import type { Random } from '@weir/core/contracts';
import { nextKill } from './kill-plan.js';
import type { KillJobOptions } from './kill-job.js';
import type { Phase } from './phases.js';
import { runOnce } from './run-once.js';
import { verify, type Verdict } from './verify.js';

export interface KillRecord {
  readonly phase: Phase;
  /** At least one checkpoint of the job had completed by then. */
  readonly isAfterCheckpoint: boolean;
  /** The process had another parallelism than the one before it. */
  readonly isRescaled: boolean;
}
/** `changing`: each process of the job has another one. */
export type Parallelism = number | 'changing';
export interface RunResult extends Verdict {
  readonly kills: readonly KillRecord[];
}

/** As many as there are files to read. */
const WIDEST = 5;

/**
 * One job from its first process to its last: killed again and again, started again each time with the same command, or at another parallelism,
 * until it finishes or `atMost` kills are used up, from where on it is left alone. Then its output is held against what it must be.
 */
export async function killRun(
  options: Omit<KillJobOptions, 'dir' | 'target' | 'parallelism'> & { readonly parallelism: Parallelism },
  atMost: number,
  random: Random,
): Promise<RunResult> {
  const dir = mkdtempSync(join(tmpdir(), 'weir-e2e-'));
  writeInput(dir);
  const kills: KillRecord[] = [];
  const { parallelism, ...fixed } = options;
  let checkpoints = 0;
  let processes = 0;
  let width = parallelism === 'changing' ? 1 + Math.floor(random() * WIDEST) : parallelism;
  for (;;) {
    const kill = kills.length < atMost ? nextKill(random, checkpoints === 0) : undefined;
    const outcome = await runOnce({ ...fixed, dir, parallelism: width }, kill);
    processes++;
    if (outcome.kind === 'finished') break;
    if (outcome.kind === 'failed') {
      throw new Error(
        `after ${String(kills.length)} kills the job did not start again at parallelism ${String(width)} (exit code ${String(outcome.code)}, files in ${dir}):\n${outcome.stderr}`,
      );
    }
    checkpoints += outcome.checkpoints;
    // It was faster than the kill. The next process goes on from its savepoint.
    if (outcome.kind === 'killed') {
      const isRescaled = parallelism === 'changing' && processes > 1;
      kills.push({ phase: outcome.phase, isAfterCheckpoint: checkpoints > 0, isRescaled });
    }
    // Any but the present one.
    if (parallelism === 'changing') width = 1 + ((width + Math.floor(random() * (WIDEST - 1))) % WIDEST);
  }
  const verdict = verify(dir);
  if (verdict.lost + verdict.duplicated === 0 || fixed.mode === 'at-least-once') rmSync(dir, { recursive: true });
  return { kills, ...verdict };
}
