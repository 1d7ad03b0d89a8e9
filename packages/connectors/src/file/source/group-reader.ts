import { hasCode, type FileHandle, type SourceReader } from '@weir/core/contracts';
import type { RowFormat, RowGroup, RowGroups } from '../format/decoder.js';
import { positionGone, readingFailure, type InputFile } from './input-file.js';
import { Outcome } from './outcome.js';
import type { RowPosition } from './position.js';

/** A reader of a file of row groups, from its beginning or from a position of an earlier reader. */
export async function openGroups<T>(
  file: InputFile,
  format: RowFormat<T>,
  position: RowPosition | undefined,
): Promise<GroupReader<T>> {
  const { fileSystem, path, context } = file;
  const stored = `row ${String(position?.row ?? 0)}`;
  let handle: FileHandle | undefined;
  try {
    handle = await fileSystem.open(path, 'read');
    const { size } = await fileSystem.stat(path);
    const groups = await format.open({ size, handle }, context.clock);
    const row = position?.row ?? 0;
    if (row > groups.rowCount) throw positionGone(file, stored, `it has only ${String(groups.rowCount)}`);
    return new GroupReader(file, groups, handle, row);
  } catch (error) {
    await handle?.close();
    if (position === undefined || !hasCode(error, 'ENOENT')) throw readingFailure(file, error);
    throw positionGone(file, stored, 'it is not there any more', error);
  }
}

/** A group that is being decoded, or has been. */
interface Loading<T> {
  readonly number: number;
  readonly group: Outcome<RowGroup<T>>;
}

/** Hands out the rows of one group while the next one is decoded. */
class GroupReader<T> implements SourceReader<T, RowPosition> {
  readonly #file: InputFile;
  readonly #groups: RowGroups<T>;
  readonly #handle: FileHandle;
  #row: number;
  #current: Loading<T> | undefined;
  #following: Loading<T> | undefined;
  readonly #closed = new AbortController();
  #closing: Promise<void> | undefined;

  constructor(file: InputFile, groups: RowGroups<T>, handle: FileHandle, row: number) {
    this.#file = file;
    this.#groups = groups;
    this.#handle = handle;
    this.#row = row;
    if (row < groups.rowCount) this.#current = this.#load(this.#groupOf(row));
  }

  poll(max: number): readonly T[] | Promise<readonly T[] | 'end'> | 'end' {
    const { starts, rowCount } = this.#groups;
    if (this.#row >= rowCount) return 'end';
    let current = this.#current as Loading<T>;
    if (this.#row >= this.#endOf(current.number)) {
      current = this.#following ?? this.#load(current.number + 1);
      this.#current = current;
      this.#following = undefined;
    }
    const group = current.group.get();
    if (group === undefined) return this.#pollAfter(current.group.settled, max);
    const end = this.#endOf(current.number);
    if (end < rowCount) this.#following ??= this.#load(current.number + 1);
    const start = starts[current.number]!;
    const from = this.#row;
    this.#row = Math.min(end, from + max);
    return group.rows(from - start, this.#row - start);
  }

  position(): RowPosition {
    return { kind: 'row', row: this.#row };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#closed.abort();
    await Promise.all([this.#current?.group.settled, this.#following?.group.settled]);
    this.#current = undefined;
    this.#following = undefined;
    await this.#handle.close();
  }

  async #pollAfter(waited: Promise<void>, max: number): Promise<readonly T[] | 'end'> {
    await waited;
    return this.#closed.signal.aborted ? [] : this.poll(max);
  }

  #load(number: number): Loading<T> {
    const loading = this.#groups.load(number, this.#closed.signal).catch((error: unknown) => {
      throw readingFailure(this.#file, error);
    });
    return { number, group: new Outcome(loading) };
  }

  #groupOf(row: number): number {
    return this.#groups.starts.findLastIndex((start) => start <= row);
  }

  #endOf(group: number): number {
    return this.#groups.starts[group + 1] ?? this.#groups.rowCount;
  }
}
