import { existsSync, mkdirSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import type { Random } from '@weir/core/contracts';

/** Longest time between two visits. */
const LONGEST_MS = 60;

/** Somebody who takes finished output away, while the job runs and while it does not. */
export class Consumer {
  readonly #dir: string;
  readonly #random: Random;
  #timer: NodeJS.Timeout | undefined;
  #visits = 0;

  constructor(dir: string, random: Random) {
    this.#dir = dir;
    this.#random = random;
    mkdirSync(join(dir, 'taken'));
  }

  start(): void {
    this.#timer = setTimeout(() => {
      this.take();
      this.start();
    }, this.#random() * LONGEST_MS);
  }
  stop(): void {
    clearTimeout(this.#timer);
  }

  /** All files that are finished now, or some of them. Each visit has a folder of its own: a file that comes again is seen twice. */
  take(): void {
    const part = this.#random();
    const taken = join(this.#dir, 'taken', String(++this.#visits));
    for (const out of outputFolders(this.#dir)) {
      for (const name of finishedIn(out)) {
        if (this.#random() > part) continue;
        mkdirSync(taken, { recursive: true });
        renameSync(join(out, name), join(taken, name));
      }
    }
  }
}

/** Every folder that some process of the job has written to. */
export function outputFolders(dir: string): readonly string[] {
  return readdirSync(dir)
    .filter((name) => name.startsWith('out'))
    .map((name) => join(dir, name));
}

/** Readers see the files whose names do not begin with a dot. */
export function finishedIn(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder).filter((name) => !name.startsWith('.')) : [];
}

export function takenFolders(dir: string): readonly string[] {
  return readdirSync(join(dir, 'taken')).map((visit) => join(dir, 'taken', visit));
}
