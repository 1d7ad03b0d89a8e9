/** A failure with the shape of Node's. */
export class FileError extends Error {
  readonly code: string;
  readonly syscall: string;
  readonly path: string;

  constructor(code: string, syscall: string, path: string) {
    super(`${code}: ${syscall} '${path}'`);
    this.name = 'FileError';
    this.code = code;
    this.syscall = syscall;
    this.path = path;
  }
}
