import type { Rows } from '../rows.js';
import { CLEAN } from './cell.js';
import type { Cell } from './cell.js';
import { Generation } from './generation.js';
import type { Moment } from './generation.js';
import { PackedBatch } from './packed-batch.js';

/** Written at once at the most. */
const STEP_CELLS = 64;
const STEP_BYTES = 32 * 1024;

/**
 * What the database does not have yet: the present generation, and those that captures have frozen, oldest first. They are written in that order,
 * and nothing of a younger one is written before the moment of an older one has been: so that what a capture sees is the state at its moment.
 */
export class Generations {
  readonly #rows: Pick<Rows, 'write'>;
  readonly #batch = new PackedBatch();
  #frozen: Generation[] = [];
  private current = new Generation(CLEAN + 1);
  /** Of the present generation. */
  number: number = CLEAN + 1;
  /** Settles when writing can go on. */
  busy: Promise<void> | undefined;

  constructor(rows: Pick<Rows, 'write'>) {
    this.#rows = rows;
  }

  /** `cell`, which is not marked in the present generation, is about to change. */
  mark(cell: Cell): void {
    if (cell.dirtyIn !== CLEAN) this.#preserve(cell);
    this.current.add(cell);
  }
  /** Everything so far belongs to `moment`, whatever changes from now on. */
  freeze(moment: Moment): void {
    this.current.moment = moment;
    this.#frozen.push(this.current);
    this.number++;
    this.current = new Generation(this.number);
  }

  /** There are generations that must be written before anything of the present one is. */
  get hasFrozen(): boolean {
    return this.#frozen.length > 0;
  }
  /** Of those, the ones that somebody waits for. */
  get wanted(): number {
    let wanted = 0;
    for (const { moment } of this.#frozen) if (moment?.isWanted === true) wanted++;
    return wanted;
  }
  /** Memory that is held for them beyond the cells. */
  get bytes(): number {
    let bytes = 0;
    for (const generation of this.#frozen) if (generation.moment?.isWanted === true) bytes += generation.bytes;
    return bytes;
  }

  /** Writes some of the oldest frozen generation. Any writer may call it for any other, as long as nothing is {@link busy}. */
  writeSome(): void {
    const oldest = this.#frozen[0];
    if (oldest === undefined || this.busy !== undefined) return;
    const preserved = oldest.takePreserved();
    if (preserved !== undefined) this.#rows.write(preserved);
    else if (oldest.cells.length > 0) this.#writeCells(oldest);
    else this.#end(oldest);
  }

  /** Writes cells of the present generation, while no other is frozen. Those that could not be encoded stay in it. */
  writeNow(cells: readonly Cell[]): void {
    const batch = this.#batch;
    for (const cell of cells) {
      const { length } = batch;
      try {
        cell.write(batch, false);
        this.current.remove(cell);
      } catch {
        // The next capture tells of it, for that is what it makes impossible.
        batch.cutTo(length);
      }
    }
    this.#flush();
  }

  /** Every moment that is not reached fails. */
  failAll(reason: Error): void {
    for (const { moment } of this.#frozen) moment?.fail(reason);
  }

  #preserve(cell: Cell): void {
    const since = cell.dirtyIn;
    const generation = this.#frozen.find(({ number }) => number === since)!;
    try {
      generation.preserve(cell);
    } catch (error) {
      // All captures since then would have to write this value.
      for (const frozen of this.#frozen) if (frozen.number >= since) frozen.failure ??= error as Error;
    }
  }

  #writeCells(generation: Generation): void {
    const batch = this.#batch;
    for (let n = 0; n < STEP_CELLS && batch.length < STEP_BYTES; n++) {
      const cell = generation.cells.at(-1);
      if (cell === undefined) break;
      generation.remove(cell);
      const { length } = batch;
      try {
        cell.write(batch, false);
      } catch (error) {
        batch.cutTo(length);
        generation.failure ??= error as Error;
        // It has not changed since, so the next capture has to try it as well.
        (this.#frozen[1] ?? this.current).add(cell);
      }
    }
    this.#flush();
  }

  #flush(): void {
    if (this.#batch.length > 0) this.#rows.write(this.#batch);
    this.#batch.reset();
  }

  #end(generation: Generation): void {
    const { moment, failure } = generation;
    if (moment?.isWanted === true) {
      if (failure !== undefined) {
        moment.fail(failure);
      } else {
        const reached = moment.reach();
        if (reached !== undefined) {
          this.busy = reached.then(() => {
            this.busy = undefined;
            this.#frozen.shift();
          });
          return;
        }
      }
    }
    this.#frozen.shift();
  }
}
