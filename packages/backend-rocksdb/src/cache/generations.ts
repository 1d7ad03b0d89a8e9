import type { Rows } from '../rows.js';
import { CLEAN, ON_ITS_WAY } from './cell.js';
import type { Cell } from './cell.js';
import { Generation } from './generation.js';
import type { Moment } from './generation.js';
import { BATCH_BYTES, PackedBatch } from './packed-batch.js';

/** Encoded at once at the most. */
const STEP_CELLS = 64;
const STEP_BYTES = 32 * 1024;

/**
 * What the database does not have yet: the present generation, and those that captures have frozen, oldest first. They are written in that order,
 * and nothing of a younger one is written before the moment of an older one has been: so that what a capture sees is the state at its moment.
 */
export class Generations {
  readonly #rows: Pick<Rows, 'write' | 'writeAside'>;
  readonly #batch = new PackedBatch();
  /** What the batch holds: cells of one generation that are on their way. */
  #encoded: Cell[] = [];
  #frozen: Generation[] = [];
  private current = new Generation(CLEAN + 1);
  /** Of the present generation. */
  number: number = CLEAN + 1;
  /** Settles when writing can go on; it does not reject. */
  busy: Promise<void> | undefined;

  constructor(rows: Pick<Rows, 'write' | 'writeAside'>) {
    this.#rows = rows;
  }

  /** `cell`, which is not marked in the present generation, is about to change. */
  mark(cell: Cell): void {
    if (cell.dirtyIn > CLEAN) this.#preserve(cell);
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

  /** Writes some of the oldest frozen generation, for whoever it is, unless something is {@link busy}. */
  writeSome(): void {
    this.#advance((batch, cells) => {
      this.#write(batch, cells);
    });
  }
  /** The same on another thread, a whole batch at a time; until it is written nothing else is. */
  writeAside(): void {
    this.#advance((batch, cells, isLast) => {
      if (isLast || batch.length >= BATCH_BYTES) this.busy = this.#writeAside(batch, cells);
    });
  }

  /** Writes cells of the present generation, while no other is frozen. Those that could not be encoded stay in it. */
  writeNow(cells: readonly Cell[]): void {
    for (const cell of cells) {
      // If it fails, the next capture tells of it, for that is what it makes impossible.
      this.#encode(cell, this.current);
    }
    this.#write(this.#batch, this.#encoded);
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

  /** Encodes some more, and lets it be sent. */
  #advance(send: (batch: PackedBatch, cells: Cell[], isLast: boolean) => void): void {
    const oldest = this.#frozen[0];
    if (oldest === undefined || this.busy !== undefined) return;
    const isEncoded = oldest.cells.length === 0 && this.#encoded.length === 0;
    // Cells first: those that are on their way need not be preserved any more.
    const preserved = oldest.takePreserved(isEncoded ? 0 : BATCH_BYTES);
    if (preserved !== undefined) {
      send(preserved, [], true);
      return;
    }
    this.#encodeSome(oldest);
    const isLast = oldest.cells.length === 0;
    if (this.#encoded.length > 0) send(this.#batch, this.#encoded, isLast);
    else if (isEncoded) this.#end(oldest);
  }
  #encodeSome(generation: Generation): void {
    const most = this.#batch.length + STEP_BYTES;
    for (let n = 0; n < STEP_CELLS && this.#batch.length < most; n++) {
      const cell = generation.cells.at(-1);
      if (cell === undefined) break;
      const failure = this.#encode(cell, generation);
      if (failure === undefined) continue;
      generation.failure ??= failure;
      // It has not changed since, so the next capture has to try it as well.
      generation.remove(cell);
      (this.#frozen[1] ?? this.current).add(cell);
    }
  }
  /** Gives why it could not be encoded: then it stays in its generation. */
  #encode(cell: Cell, generation: Generation): Error | undefined {
    try {
      cell.encode(this.#batch);
    } catch (error) {
      return error as Error;
    }
    generation.remove(cell);
    cell.dirtyIn = ON_ITS_WAY;
    this.#encoded.push(cell);
    return undefined;
  }

  #write(batch: PackedBatch, cells: Cell[]): void {
    try {
      if (batch.length > 0) this.#rows.write(batch);
    } finally {
      this.#sent(batch);
    }
    arrived(cells);
  }
  async #writeAside(batch: PackedBatch, cells: Cell[]): Promise<void> {
    const written = this.#rows.writeAside(batch);
    this.#sent(batch);
    try {
      await written;
      arrived(cells);
    } catch (error) {
      for (const { moment } of this.#frozen) moment?.fail(error as Error);
    }
    this.busy = undefined;
  }
  /** Whoever takes it has a copy. */
  #sent(batch: PackedBatch): void {
    if (batch !== this.#batch) return;
    batch.reset();
    this.#encoded = [];
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

/** Those that have not changed meanwhile are what the database has. */
function arrived(cells: readonly Cell[]): void {
  for (const cell of cells) {
    if (cell.dirtyIn !== ON_ITS_WAY) continue;
    cell.dirtyIn = CLEAN;
    cell.stored();
  }
}
