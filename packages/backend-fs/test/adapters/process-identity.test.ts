import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFsStorage } from '@weir/backend-fs';
import { SILENT, systemClock, type JobStorage } from '@weir/core/contracts';
import { afterEach, describe, expect, test } from 'vitest';
import {
  identityOf,
  parseProcessStatus,
  systemProcesses,
  type ProcessTable,
} from '../../src/adapters/process-identity.js';

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});
async function startChild(): Promise<ChildProcess & { readonly pid: number }> {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  children.push(child);
  await once(child, 'spawn');
  return child as ChildProcess & { readonly pid: number };
}
async function kill(child: ChildProcess): Promise<void> {
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}

describe('a process', () => {
  test('lives until it is killed', async () => {
    const child = await startChild();
    const identity = identityOf(child.pid);
    expect(systemProcesses.isAlive(identity)).toBe(true);
    await kill(child);
    expect(systemProcesses.isAlive(identity)).toBe(false);
  });

  test('is this one, and lives', () => {
    expect(systemProcesses.self.pid).toBe(process.pid);
    expect(systemProcesses.isAlive(systemProcesses.self)).toBe(true);
  });

  test.runIf(process.platform === 'linux')('is not another one that was given its number', () => {
    const { self } = systemProcesses;
    expect(systemProcesses.isAlive({ ...self, startedAt: `${self.startedAt}0` })).toBe(false);
    expect(systemProcesses.isAlive({ ...self, bootId: 'another-start-of-the-machine' })).toBe(false);
  });
});

test('the status of a process is read whatever its name is', () => {
  const fields = '1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20 21';
  expect(parseProcessStatus(`7 (node) S ${fields}`)).toEqual({ ended: false, startedAt: '4711' });
  expect(parseProcessStatus(`7 (a) b) (R 1) R ${fields}`)).toEqual({ ended: false, startedAt: '4711' });
  expect(parseProcessStatus(`7 (node) Z ${fields}`)).toEqual({ ended: true, startedAt: '4711' });
  expect(parseProcessStatus('')).toBeUndefined();
  expect(parseProcessStatus('7 (node) S 1 2 3')).toBeUndefined();
});

test('the lock of a process that was killed is taken over, on a real disk', async () => {
  const root = await mkdtemp(join(tmpdir(), 'weir-lock-'));
  const open = (processes: ProcessTable): Promise<JobStorage> =>
    createFsStorage({ checkpointsDir: root, processes }).open({ job: 'orders', clock: systemClock, logger: SILENT });
  const signal = new AbortController().signal;
  const child = await startChild();
  const theirs = await open({ self: identityOf(child.pid), isAlive: (other) => systemProcesses.isAlive(other) });
  const lock = await theirs.lock({ waitMs: 0, signal });
  await lock.recordAttempt(3);

  const ours = await open(systemProcesses);
  await expect(ours.lock({ waitMs: 0, signal })).rejects.toThrow(`process ${String(child.pid)}`);
  const waiting = ours.lock({ waitMs: 60_000, signal });
  await kill(child);
  const taken = await waiting;
  expect(taken.previousAttempt).toBe(3);
  await taken.recordAttempt(4);
  await taken.verify();
  await expect(lock.verify()).rejects.toMatchObject({ code: 'STORAGE_FENCED' });
  const again = createFsStorage({ checkpointsDir: root }).open({ job: 'orders', clock: systemClock, logger: SILENT });
  await expect((await again).lock({ waitMs: 0, signal })).rejects.toThrow(`this process (${String(process.pid)})`);
  await rm(root, { recursive: true });
});

test('a process of another container or machine counts as alive, since it cannot be seen', () => {
  const { self } = systemProcesses;
  const gone = { ...self, pid: 2 ** 22 + 1 };
  expect(systemProcesses.isAlive(gone)).toBe(false);
  expect(systemProcesses.isAlive({ ...gone, pidNamespace: '1' })).toBe(true);
  expect(systemProcesses.isAlive({ ...gone, bootId: 'x', host: `${self.host}-2` })).toBe(true);
});
