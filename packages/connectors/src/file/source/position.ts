/** After the last record of a file that was handed over: a byte of its (decompressed) content and the line that begins there, from 1. */
export interface BytePosition {
  readonly kind: 'byte';
  readonly offset: number;
  readonly line: number;
}
/** After the last row of a file that was handed over. */
export interface RowPosition {
  readonly kind: 'row';
  readonly row: number;
}
export type FilePosition = BytePosition | RowPosition;
