import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Backup } from './backup.js';
import { Consumer } from './consumer.js';
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
  /** Starts with another output folder. */
  readonly moved: number;
  /** Starts with a folder of checkpoints that was put back from a backup, and those of them that were refused. */
  readonly putBack: number;
  readonly refused: number;
}

/** How often, between two processes. */
const MOVES = 0.8;
const BACKUPS = 0.15;
const PUT_BACK = 0.2;

/** As many as there are files to read. */
const WIDEST = 5;

/**
 * One job from its first process to its last: killed again and again, started again each time with the same command, or at another parallelism,
 * until it finishes or `atMost` kills are used up, from where on it is left alone. A consumer takes its output away all the while; it is stopped and started
 * with other output folders, and with folders of checkpoints that are older than its output. Then its output is held against what it must be.
 */
export async function killRun(
  options: Omit<KillJobOptions, 'dir' | 'target' | 'parallelism' | 'out' | 'restoreFrom'> & {
    readonly parallelism: Parallelism;
  },
  atMost: number,
  random: Random,
): Promise<RunResult> {
  const dir = mkdtempSync(join(tmpdir(), 'weir-e2e-'));
  writeInput(dir);
  const kills: KillRecord[] = [];
  const { parallelism, ...fixed } = options;
  const consumer = new Consumer(dir, random);
  const backup = new Backup(dir);
  let place: Pick<KillJobOptions, 'out' | 'restoreFrom'> = { out: 'out' };
  let [moved, putBack, refused] = [0, 0, 0];
  let checkpoints = 0;
  let processes = 0;
  let width = parallelism === 'changing' ? 1 + Math.floor(random() * WIDEST) : parallelism;
  for (;;) {
    const kill = kills.length < atMost ? nextKill(random, checkpoints === 0) : undefined;
    const isOlder =
      kill !== undefined && backup.exists && random() < (fixed.allowDuplicates === true ? 2 * PUT_BACK : PUT_BACK);
    if (isOlder) backup.putBack();
    consumer.start();
    const outcome = await runOnce({ ...fixed, ...place, dir, parallelism: width }, kill);
    consumer.stop();
    processes++;
    if (isOlder) {
      putBack++;
      if (outcome.kind === 'refused') refused++;
      // One that was killed before it was known whether it may run says nothing.
      if (outcome.kind === 'refused' || (outcome.kind === 'killed' && !outcome.hasRun)) {
        backup.undo();
        continue;
      }
      backup.keep();
    }
    // A path is for one start: behind it there may be checkpoints of its own.
    place = { out: place.out };
    if (outcome.kind === 'finished') break;
    if (outcome.kind === 'failed' || outcome.kind === 'refused') {
      const { code, stderr } =
        outcome.kind === 'failed' ? outcome : { code: undefined, stderr: 'it was refused for its output' };
      throw new Error(
        `after ${String(kills.length)} kills the job did not start again at parallelism ${String(width)} (exit code ${String(code)}, files in ${dir}):\n${stderr}`,
      );
    }
    checkpoints += outcome.checkpoints;
    // It was faster than the kill. The next process goes on from its savepoint.
    if (outcome.kind === 'killed') {
      const isRescaled = parallelism === 'changing' && processes > 1;
      kills.push({ phase: outcome.phase, isAfterCheckpoint: checkpoints > 0, isRescaled });
    }
    if (outcome.kind === 'stopped' && outcome.savepoint !== undefined && random() < MOVES) {
      // The savepoint is complete in itself: it needs nothing of where the output has gone so far.
      place = { out: `out${String(++moved)}`, restoreFrom: outcome.savepoint };
      // Nobody would notice: what is newer than it lies where the job does not write any more.
      backup.forget();
    } else if (random() < BACKUPS) backup.make();
    if (random() < 0.3) consumer.take();
    // Any but the present one.
    if (parallelism === 'changing') width = 1 + ((width + Math.floor(random() * (WIDEST - 1))) % WIDEST);
  }
  const verdict = verify(dir);
  const repeats = fixed.mode === 'at-least-once' || fixed.allowDuplicates === true;
  if (verdict.lost + verdict.duplicated === 0 || repeats) rmSync(dir, { recursive: true });
  return { kills, ...verdict, moved, putBack, refused };
}
