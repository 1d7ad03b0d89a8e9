import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { rm, rmdir } from 'node:fs/promises';
import path from 'node:path';
import { systemProcesses } from '@weir/backend-fs';
import type { ProcessIdentity } from '@weir/backend-fs';
import { messageOf } from '@weir/core/contracts';
import type { Logger } from '@weir/core/contracts';
import { localFailure } from './local-files.js';
import { randomId } from './random-id.js';

/** Below the directory that the user names. */
const FOLDER = 'weir-rocksdb';

/** The place of one store on the local disk. It lives as long as the store: after the end of a process nothing in it is ever used again. */
export interface WorkingDirectory {
  /** A new name in it. */
  place(name: string): string;
  /** Does not fail: what cannot be removed is told of, and tried again later. */
  remove(): Promise<void>;
}

/** What is asked of the disk itself. */
export interface Disk {
  makeFolder(directory: string): void;
  removeFolder(directory: string): Promise<void>;
}
export const localDisk: Disk = {
  makeFolder(directory) {
    mkdirSync(directory, { recursive: true });
  },
  removeFolder: (directory) => rm(directory, { recursive: true, force: true }),
};

/** The folders of one backend. Those that could not be removed are tried again before the next is made and after the next is removed. */
export class WorkingDirectories {
  readonly #dir: string;
  readonly #disk: Disk;
  readonly #unremoved = new Set<string>();

  constructor(dir: string, disk: Disk) {
    this.#dir = dir;
    this.#disk = disk;
  }

  /** Makes the folder of a store: in one of its process, in one of its job. */
  async create(job: string, operator: string, subtask: number, logger: Logger): Promise<WorkingDirectory> {
    await this.#removeRest();
    const ofProcess = path.join(this.#dir, FOLDER, nameOf(systemProcesses.self));
    const own = path.join(ofProcess, safe(job), `${safe(operator)}-${String(subtask)}-${randomId()}`);
    try {
      this.#disk.makeFolder(own);
    } catch (error) {
      throw localFailure(own, error);
    }
    return {
      place: (name) => path.join(own, name),
      remove: async () => {
        const error = await this.#remove(own);
        if (error !== undefined)
          logger.warn(
            { job, operator, subtask, directory: own, error },
            `Working state of operator ${operator} of job ${job} that nobody needs any more cannot be removed from ${own}: ${messageOf(error)}. ` +
              'It is tried again with the next store that is opened or closed, and when another process starts.',
          );
        await this.#removeRest(own);
      },
    };
  }

  async #removeRest(except?: string): Promise<void> {
    for (const directory of this.#unremoved) if (directory !== except) await this.#remove(directory);
  }
  /** Gives why it could not. */
  async #remove(directory: string): Promise<unknown> {
    try {
      await this.#disk.removeFolder(directory);
    } catch (error) {
      this.#unremoved.add(directory);
      return error;
    }
    this.#unremoved.delete(directory);
    const ofJob = path.dirname(directory);
    // Others may still be in there.
    for (const parent of [ofJob, path.dirname(ofJob)]) await rmdir(parent).catch(() => undefined);
    return undefined;
  }
}

/** Removes what processes have left that are dead. */
export function removeRemains(dir: string): void {
  const root = path.join(dir, FOLDER);
  for (const name of namesIn(root)) {
    const process = processOf(name);
    if (process === undefined || systemProcesses.isAlive(process)) continue;
    try {
      // Another process may be at the same.
      rmSync(path.join(root, name), { recursive: true, force: true });
    } catch {
      // It is in nobody's way but for its room, and the next process tries again.
    }
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
