/** Room on disk for what does not fit into memory. What is in it is gone with the process. */
export interface TemporaryFiles {
  create(): Promise<TemporaryFile>;
}
export interface TemporaryFile {
  /** Appends. */
  write(bytes: Uint8Array): Promise<void>;
  /** Up to `length` bytes from `position`; an empty result is the end. */
  read(position: number, length: number): Promise<Uint8Array>;
  /** Deletes the file. */
  close(): Promise<void>;
}
