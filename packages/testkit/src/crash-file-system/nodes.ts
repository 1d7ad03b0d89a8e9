/** A file or a folder, independent of its names: an open handle keeps it when the name goes. */
export type Node = FileNode | FolderNode;

export interface FolderNode {
  readonly kind: 'directory';
  /** Names as the running system sees them. */
  readonly entries: Map<string, Node>;
  /** Names that survive a crash. */
  readonly durable: Map<string, Node>;
}

/** A change of one name that is not durable yet. */
export interface NameChange {
  readonly folder: FolderNode;
  readonly name: string;
  readonly path: string;
  /** What the name stands for from now on; undefined: nothing. */
  readonly node: Node | undefined;
  /** A rename takes the old name away only if the new one is durable, so that no crash loses the file. */
  readonly after?: NameChange | undefined;
}

/** The bytes of a file, and how much of them a crash would leave. */
export class FileNode {
  readonly kind = 'file';
  modifiedMs: number;
  #bytes: Uint8Array = new Uint8Array(0);
  #length = 0;
  #synced: Uint8Array = new Uint8Array(0);
  /** The first bytes of `#synced` that are still the first bytes of the file. */
  #common = 0;

  constructor(modifiedMs: number) {
    this.modifiedMs = modifiedMs;
  }

  get length(): number {
    return this.#length;
  }
  /** A copy of the bytes from `start` to `end`. */
  slice(start: number, end: number): Uint8Array {
    return this.#bytes.slice(start, Math.min(end, this.#length));
  }
  append(bytes: Uint8Array): void {
    const needed = this.#length + bytes.length;
    if (needed > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
      grown.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = grown;
    }
    this.#bytes.set(bytes, this.#length);
    this.#length = needed;
  }
  /** Cuts, or fills up with zeros. */
  truncate(length: number): void {
    if (length > this.#length) this.append(new Uint8Array(length - this.#length));
    this.#length = length;
    this.#common = Math.min(this.#common, length);
  }
  sync(): void {
    this.#synced = this.slice(0, this.#length);
    this.#common = this.#length;
  }
  /** What a crash leaves, all of it durable, if `survivors` tells what remains of the bytes that were not synced. */
  crashed(survivors: (unsynced: Uint8Array) => Uint8Array | undefined): FileNode {
    const after = new FileNode(this.modifiedMs);
    const rest = survivors(this.slice(this.#common, this.#length));
    after.append(rest === undefined ? this.#synced : this.#synced.subarray(0, this.#common));
    after.append(rest ?? new Uint8Array(0));
    after.sync();
    return after;
  }
  /** A copy that knows what is durable. */
  copied(): FileNode {
    const copy = new FileNode(this.modifiedMs);
    copy.append(this.#bytes.subarray(0, this.#length));
    copy.#synced = this.#synced;
    copy.#common = this.#common;
    return copy;
  }
}

export function newFolder(): FolderNode {
  return { kind: 'directory', entries: new Map(), durable: new Map() };
}
