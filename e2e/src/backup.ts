import { cpSync, existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** A copy of the folder of checkpoints, made while no process runs. */
export class Backup {
  readonly #state: string;
  readonly #copy: string;
  readonly #aside: string;

  constructor(dir: string) {
    this.#state = join(dir, 'state');
    this.#copy = join(dir, 'backup');
    this.#aside = join(dir, 'aside');
  }

  forget(): void {
    rmSync(this.#copy, { recursive: true, force: true });
  }

  get exists(): boolean {
    return existsSync(this.#copy);
  }

  make(): void {
    this.forget();
    if (existsSync(this.#state)) cpSync(this.#state, this.#copy, { recursive: true });
  }

  /** In place of what is there, which is kept for `undo` until `keep`. */
  putBack(): void {
    renameSync(this.#state, this.#aside);
    cpSync(this.#copy, this.#state, { recursive: true });
  }
  undo(): void {
    rmSync(this.#state, { recursive: true });
    renameSync(this.#aside, this.#state);
  }
  keep(): void {
    rmSync(this.#aside, { recursive: true });
  }
}
