import type { Awaitable, Clock, FileHandle } from '@weir/core/contracts';

/** How a file becomes records: line by line, with a byte offset as position, or row group by row group, with a row number. */
export type Decoder<T> = LineFormat<T> | RowFormat<T>;

/** A format whose records end with a line, though not every line ends a record. */
export interface LineFormat<out T> {
  readonly kind: 'lines';
  /** Called once for each file that is opened. */
  decoder(limits: LineLimits): Awaitable<LineDecoder<T>>;
}
export interface LineLimits {
  /** A record that is longer and not at its end is malformed. */
  readonly maxLineBytes: number;
}
/** Decodes the lines of one file; `bytes` are always whole lines, but for the last line of a file. */
export interface LineDecoder<out T> {
  /**
   * Present if the first record of a file says how to read the others. Returns its length; 0: it goes on in lines to come, unless `last`.
   * Throws an error that goes on after "The header" if the file cannot be read with it.
   */
  header?(bytes: Buffer, last: boolean): number;
  /** All records of `bytes`; `last`: the file ends with them. */
  decode(bytes: Buffer, last: boolean): DecodedLines<T>;
}
export interface DecodedLines<out T> {
  readonly records: readonly T[];
  /** Where each record ends in the bytes, its line end included. */
  readonly ends: readonly number[];
  readonly malformed: readonly MalformedLine[];
  /** The bytes that are done with; a rest comes again with the lines that follow it. All if `last`. */
  readonly consumed: number;
}
export interface MalformedLine {
  /** From where to where it lies in the bytes. */
  readonly start: number;
  readonly end: number;
  readonly reason: string;
}

/** A format of row groups that are decoded as a whole. */
export interface RowFormat<out T> {
  readonly kind: 'rows';
  /** Fails with CONNECTOR_PEER if a package that reads the format is missing. */
  open(file: RowFile, clock: Clock): Promise<RowGroups<T>>;
}
export interface RowFile {
  readonly size: number;
  readonly handle: FileHandle;
}
export interface RowGroups<out T> {
  /** Number of the first row of each group; ascending, the first is 0. */
  readonly starts: readonly number[];
  readonly rowCount: number;
  /** Decodes a group. Lets the event loop turn where the work is long, and gives up, rejecting, when the signal aborts. */
  load(group: number, signal: AbortSignal): Promise<RowGroup<T>>;
}
/** A decoded group; its rows become objects only when they are asked for. */
export interface RowGroup<out T> {
  /** Rows `from` to `to`, counted in the group, the latter not included. */
  rows(from: number, to: number): readonly T[];
}
