import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inChild } from '../child.js';
import type { RestoreArgument, RestoreResult } from '../child/restore.js';
import { paired } from '../figure.js';
import type { Report } from '../report.js';

const RUNS = 5;
const LOCAL_RUNS = 3;
const KEYS = 1_000_000;

/** From `start` until a job with 1,000,000 keys in its checkpoint runs again. */
export async function restore(report: Report): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'weir-bench-'));
  try {
    const run = (phase: RestoreArgument['phase']): Promise<RestoreResult> =>
      inChild<RestoreResult>('restore', { dir, keys: KEYS, phase, startedAt: Date.now() } satisfies RestoreArgument);
    const { stateBytes } = await run('fill');
    const seconds: number[] = [];
    for (let i = 0; i < RUNS; i++) {
      const result = await run('restore');
      if (result.restoredCheckpoint === undefined) throw new Error('the job did not restore anything');
      seconds.push(result.restoreMs / 1000);
    }
    report.add(
      'restore_s_1m_keys',
      paired(seconds, { unit: 's', bar: { atMost: 2 }, details: { snapshot_bytes: stateBytes } }),
    );
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** The same with a copy on the disk of the machine, and without one, from a storage on the same disk: what is left is that nothing is fetched. */
export async function localRestore(report: Report): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'weir-bench-'));
  const localDirs = join(dir, 'local');
  try {
    const run = (phase: RestoreArgument['phase'], local: boolean): Promise<RestoreResult> =>
      inChild<RestoreResult>('restore', {
        dir: join(dir, 'remote'),
        keys: KEYS,
        phase,
        startedAt: Date.now(),
        localDirs: local ? localDirs : undefined,
      } satisfies RestoreArgument);
    await run('fill', true);
    const seconds: Record<'local' | 'remote', number[]> = { local: [], remote: [] };
    for (let i = 0; i < LOCAL_RUNS; i++) {
      for (const from of ['remote', 'local'] as const) {
        const { restoreMs, localBytes } = await run('restore', from === 'local');
        if (localBytes > 0 !== (from === 'local')) throw new Error(`the job did not restore what is ${from}`);
        seconds[from].push(restoreMs / 1000);
      }
    }
    report.add('restore_s_1m_keys_local', paired(seconds.local, { unit: 's' }));
    report.add('restore_s_1m_keys_remote', paired(seconds.remote, { unit: 's' }));
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** From the start of the process to the first `SinkWriter.write`, with checkpointing on and nothing to restore. */
export async function startUp(report: Report): Promise<void> {
  const times: number[] = [];
  for (let i = 0; i < 9; i++) {
    const dir = mkdtempSync(join(tmpdir(), 'weir-bench-'));
    const { ms } = await inChild<{ readonly ms: number }>('start-up', { dir, startedAt: Date.now() });
    rmSync(dir, { recursive: true, force: true });
    times.push(ms);
  }
  report.add('start_to_first_output_ms', paired(times, { unit: 'ms', bar: { atMost: 400 } }));
}
