import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { rm, rmdir } from 'node:fs/promises';
import path from 'node:path';
import { systemProcesses } from '@weir/backend-fs';
import type { ProcessIdentity } from '@weir/backend-fs';
import { localFailure } from './local-files.js';
import { randomId } from './random-id.js';

/** Below the directory that the user names. */
const FOLDER = 'weir-rocksdb';

/** The place of one store on the local disk. It lives as long as the store: after the end of a process nothing in it is ever used again. */
export interface WorkingDirectory {
  /** A new name in it. */
  place(name: string): string;
  remove(): Promise<void>;
}

/** Makes the folder of a store: in one of its process, in one of its job. */
export function createWorkingDirectory(dir: string, job: string, operator: string, subtask: number): WorkingDirectory {
  const ofProcess = path.join(dir, FOLDER, nameOf(systemProcesses.self));
  const ofJob = path.join(ofProcess, safe(job));
  const own = path.join(ofJob, `${safe(operator)}-${String(subtask)}-${randomId()}`);
  try {
    mkdirSync(own, { recursive: true });
  } catch (error) {
    throw localFailure(own, error);
  }
  return {
    place: (name) => path.join(own, name),
    async remove() {
      await rm(own, { recursive: true, force: true });
      // Others may still be in there.
      for (const parent of [ofJob, ofProcess]) await rmdir(parent).catch(() => undefined);
    },
  };
}

/** Removes what processes have left that are dead. */
export function removeRemains(dir: string): void {
  const root = path.join(dir, FOLDER);
  for (const name of namesIn(root)) {
    const process = processOf(name);
    if (process === undefined || systemProcesses.isAlive(process)) continue;
    // Another process may be at the same.
    rmSync(path.join(root, name), { recursive: true, force: true });
  }
}

function namesIn(dir: string): readonly string[] {
  try {
    return readdirSync(dir);
  } catch {
    return [];
  }
}

function nameOf({ pid, startedAt, bootId, pidNamespace, host }: ProcessIdentity): string {
  return [String(pid), startedAt, bootId, pidNamespace, host].join('_');
}
function processOf(name: string): ProcessIdentity | undefined {
  const [pid = '', startedAt = '', bootId = '', pidNamespace = '', host, ...rest] = name.split('_');
  if (host === undefined || rest.length > 0 || !/^\d+$/.test(pid)) return undefined;
  return { pid: Number(pid), startedAt, bootId, pidNamespace, host };
}

/** A file name, and not a long one. */
function safe(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9-]/g, '-').slice(0, 40);
}
