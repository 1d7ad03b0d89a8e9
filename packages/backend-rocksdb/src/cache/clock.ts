import type { CurrentKey } from '../state/current-key.js';
import { CELL_BYTES, CLEAN, ON_ITS_WAY } from './cell.js';
import type { Cell } from './cell.js';
import type { Generations } from './generations.js';

/** Evicted at once, so that what is dirty goes to the database in packed batches, and the thread is not kept for long. */
const EVICTED_AT_ONCE = 128;
/** Cells that the hand passes at once at the most. */
const PASSED_AT_ONCE = 1024;
/** While frozen generations hold the cells fast, the hand comes by again after so many new cells. */
const PATIENCE = 256;

/**
 * The cells in memory, bounded in bytes. Which of them go is decided by the clock algorithm (second chance), an approximation of least recently
 * used whose price for a use is one assignment (F. J. Corbató, A paging experiment with the Multics system, 1968).
 */
export class Clock {
  readonly #generations: Generations;
  readonly #current: CurrentKey;
  readonly limit: number;
  #cells: (Cell | undefined)[] = [];
  readonly #free: number[] = [];
  #hand = 0;
  #patience = 0;
  bytes = 0;
  /** Counts the cells that went. */
  evictions = 0;

  constructor(limit: number, generations: Generations, current: CurrentKey) {
    this.limit = limit;
    this.#generations = generations;
    this.#current = current;
  }

  get isFull(): boolean {
    return this.bytes > this.limit;
  }
  /** `bytes`: of key and value. */
  add(cell: Cell, bytes: number): void {
    const slot = this.#free.pop() ?? this.#cells.length;
    this.#cells[slot] = cell;
    cell.slot = slot;
    cell.bytes = CELL_BYTES + bytes;
    this.bytes += cell.bytes;
    if (this.#patience > 0) this.#patience--;
  }
  /** The cell takes so many bytes more, or less. */
  grow(cell: Cell, bytes: number): void {
    cell.bytes += bytes;
    this.bytes += bytes;
  }

  /**
   * Evicts some cells if there are too many. What was lent to the present callback stays, and so does what is dirty while frozen generations
   * wait to be written. To be called when nobody holds on to a cell: afterwards every handle looks its cell up again.
   */
  makeRoom(): void {
    if (this.bytes <= this.limit || this.#patience > 0) return;
    const generations = this.#generations;
    // Frozen by captures that were given up: nobody else writes them.
    if (generations.hasFrozen && generations.wanted === 0) generations.writeSome();
    const isHeld = generations.hasFrozen;
    const dirty: Cell[] = [];
    const victims: Cell[] = [];
    const { callback } = this.#current;
    let spared = 0;
    // At most once around, so that no cell is met twice.
    for (let passed = Math.min(PASSED_AT_ONCE, this.#cells.length); passed > 0; passed--) {
      const cell = this.#next();
      if (cell === undefined || cell.lentIn === callback) continue;
      if (cell.isRecent) {
        cell.isRecent = false;
        spared++;
      } else if (cell.dirtyIn === CLEAN) {
        victims.push(cell);
      } else if (!isHeld && cell.dirtyIn !== ON_ITS_WAY) {
        dirty.push(cell);
      }
      if (victims.length + dirty.length === EVICTED_AT_ONCE) break;
    }
    if (dirty.length > 0) generations.writeNow(dirty);
    for (const cell of victims) this.#evict(cell);
    for (const cell of dirty) if (cell.dirtyIn === CLEAN) this.#evict(cell);
    if (victims.length + dirty.length > 0) this.#current.forgetCells();
    else if (isHeld && spared === 0) this.#patience = PATIENCE;
  }

  #next(): Cell | undefined {
    if (this.#hand >= this.#cells.length) this.#hand = 0;
    return this.#cells[this.#hand++];
  }
  #evict(cell: Cell): void {
    this.#cells[cell.slot] = undefined;
    this.#free.push(cell.slot);
    cell.slot = -1;
    this.bytes -= cell.bytes;
    this.evictions++;
    cell.drop();
  }
}
