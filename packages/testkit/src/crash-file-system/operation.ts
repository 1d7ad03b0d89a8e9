export type OperationName =
  | 'open'
  | 'readFile'
  | 'readDirectory'
  | 'stat'
  | 'realPath'
  | 'lstat'
  | 'makeDirectory'
  | 'rename'
  | 'remove'
  | 'removeTree'
  | 'syncDirectory'
  | 'write'
  | 'read'
  | 'sync'
  | 'truncate'
  | 'close';

/** One call to the file system, or to a handle of it (`path` is then the path it was opened with). */
export interface Operation {
  /** Position in the log, from 0. */
  readonly index: number;
  readonly op: OperationName;
  readonly path: string;
  /** The new name of a rename. */
  readonly to?: string | undefined;
  /** Bytes of a write. */
  readonly bytes?: number | undefined;
}

/** Which operations are meant: all conditions that are given hold. A rename matches by its old or its new name. */
export interface OperationPattern {
  readonly op?: OperationName | readonly OperationName[] | undefined;
  readonly path?: RegExp | undefined;
}

export function matches(pattern: OperationPattern, operation: Operation): boolean {
  const { op, path } = pattern;
  if (op !== undefined && !(typeof op === 'string' ? op === operation.op : op.includes(operation.op))) return false;
  return path === undefined || path.test(operation.path) || (operation.to !== undefined && path.test(operation.to));
}
