import { keyIdentity } from '@weir/core/contracts';
import type { KeyIdentity, ListState } from '@weir/core/contracts';
import type { Clock } from '../cache/clock.js';
import type { Generations } from '../cache/generations.js';
import type { CurrentKey } from './current-key.js';
import type { ListCell } from './list-cell.js';
import type { StoreParts } from './stored-state.js';
import { isMutable } from './value-sizes.js';
import type { ValueSizes } from './value-sizes.js';

/** What the handle needs of all lists. */
export interface Lists {
  readonly cells: { get(identity: KeyIdentity): ListCell | undefined };
  readonly sizes: ValueSizes;
  create(): ListCell;
  complete(cell: ListCell): void;
  empty(cell: ListCell): void;
}

/** The list of the current key. */
export class ListHandle implements ListState<unknown> {
  private readonly state: Lists;
  private readonly current: CurrentKey;
  private readonly clock: Clock;
  private readonly generations: Generations;
  private turn = -1;
  private cell: ListCell | undefined;

  constructor(state: Lists, parts: StoreParts) {
    this.state = state;
    this.current = parts.current;
    this.clock = parts.clock;
    this.generations = parts.generations;
  }

  values(): Iterable<unknown> {
    const cell = this.find() ?? (this.cell = this.state.create());
    if (!cell.isWhole) this.state.complete(cell);
    if (cell.hasMutable) {
      // Who reads an object may change it without a word.
      this.mark(cell);
      cell.isReplaced = true;
      cell.lentIn = this.current.callback;
    }
    return cell.values.slice();
  }
  add(value: unknown): void {
    const cell = this.find() ?? (this.cell = this.state.create());
    this.mark(cell);
    cell.values.push(value);
    if (isMutable(value)) {
      cell.hasMutable = true;
      cell.lentIn = this.current.callback;
    }
    const bytes = this.state.sizes.of(value);
    this.clock.grow(cell, bytes);
    cell.valueBytes += bytes;
  }
  clear(): void {
    const cell = this.find() ?? (this.cell = this.state.create());
    if (cell.isWhole && cell.values.length === 0) return;
    this.mark(cell);
    this.state.empty(cell);
  }

  private mark(cell: ListCell): void {
    if (cell.dirtyIn !== this.generations.number) this.generations.mark(cell);
  }
  private find(): ListCell | undefined {
    const { turn, key } = this.current;
    if (turn <= 0) throw this.current.violation();
    if (this.turn === turn) return this.cell;
    this.turn = turn;
    const cell = this.state.cells.get(keyIdentity(key));
    if (cell !== undefined) cell.isRecent = true;
    return (this.cell = cell);
  }
}
