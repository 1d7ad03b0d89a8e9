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
}
export interface RunResult extends Verdict {
  readonly kills: readonly KillRecord[];
}

/**
 * One job from its first process to its last: killed again and again, started again each time with the same command, until it finishes or
 * `atMost` kills are used up, from where on it is left alone. Then its output is held against what it must be.
 */
export async function killRun(
  options: Pick<KillJobOptions, 'parallelism' | 'mode' | 'unaligned'>,
  atMost: number,
  random: Random,
): Promise<RunResult> {
  const dir = mkdtempSync(join(tmpdir(), 'weir-e2e-'));
  writeInput(dir);
  const kills: KillRecord[] = [];
  let checkpoints = 0;
  for (;;) {
    const kill = kills.length < atMost ? nextKill(random, checkpoints === 0) : undefined;
    const outcome = await runOnce({ dir, ...options }, kill);
    if (outcome.kind === 'finished') break;
    if (outcome.kind === 'failed') {
      throw new Error(
        `after ${String(kills.length)} kills the job did not start again (exit code ${String(outcome.code)}, files in ${dir}):\n${outcome.stderr}`,
      );
    }
    checkpoints += outcome.checkpoints;
    // It was faster than the kill. The next process goes on from its savepoint.
    if (outcome.kind === 'stopped') continue;
    kills.push({ phase: outcome.phase, isAfterCheckpoint: checkpoints > 0 });
  }
  const verdict = verify(dir);
  if (verdict.lost + verdict.duplicated === 0 || options.mode === 'at-least-once') rmSync(dir, { recursive: true });
  return { kills, ...verdict };
}
