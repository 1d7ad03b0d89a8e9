import {
  WeirError,
  type BlobHandle,
  type CheckpointId,
  type CheckpointLocation,
  type CheckpointStorage,
  type JobStorage,
  type SharedBlob,
  type StorageLock,
  type StoredCheckpoint,
} from '@weir/core/contracts';

/** A step of the storage, such as `publish 3` or `verify`, and whether it is about to happen or has. */
export type Intercept = (step: string, when: 'before' | 'after') => void | Promise<void>;

interface StorageOptions {
  readonly intercept?: Intercept | undefined;
  readonly locks?: boolean | undefined;
}

interface Folder {
  /** Names of private files; their contents do not matter here. */
  readonly files: Set<string>;
  metadata: Uint8Array | undefined;
  committed?: Uint8Array | undefined;
}

/** The directory of one job on a disk that survives every process. Each `storage()` is what one process sees of it. */
export class Disk {
  readonly name: string;
  readonly folders = new Map<CheckpointId, Folder>();
  /** Names of the files that checkpoints have in common. */
  readonly shared = new Set<string>();
  finished: Uint8Array | undefined;
  attempt = 0;
  owner: DiskStorage | undefined;
  /** Folders of users, by their path. */
  readonly savepoints = new Map<string, Folder>();
  /** Called behind every step that any process has done. */
  onStep: () => void = () => undefined;
  /** Other directories that a path may lead to. */
  readonly elsewhere: Disk[] = [];

  constructor(name = 'disk') {
    this.name = name;
  }

  get complete(): readonly CheckpointId[] {
    return [...this.folders]
      .filter(([, folder]) => folder.metadata !== undefined)
      .map(([id]) => id)
      .sort((a, b) => a - b);
  }
  get incomplete(): readonly CheckpointId[] {
    return [...this.folders.keys()].filter((id) => !this.complete.includes(id));
  }
  pointer(id: CheckpointId): string {
    return `${this.name}/chk-${String(id)}`;
  }
  /** Leaves behind what a process that died while it wrote leaves. */
  leaveIncomplete(id: CheckpointId): void {
    this.folders.set(id, { files: new Set(['part']), metadata: undefined });
  }
  damage(id: CheckpointId): void {
    const folder = this.folders.get(id);
    const [...bytes] = folder?.metadata ?? [];
    bytes[bytes.length - 9] = (bytes[bytes.length - 9] ?? 0) ^ 1;
    if (folder !== undefined) folder.metadata = Uint8Array.from(bytes);
  }
  copy(id: CheckpointId, to: Disk, as: CheckpointId): void {
    to.folders.set(as, { files: new Set(), metadata: this.folders.get(id)?.metadata });
  }
  /** A user moves a savepoint. */
  move(from: string, to: string): void {
    const folder = this.savepoints.get(from);
    if (folder !== undefined) this.savepoints.set(to, folder);
    this.savepoints.delete(from);
  }
  storage(options: StorageOptions = {}): DiskStorage {
    return new DiskStorage(this, options);
  }
}

/** One process's access to a {@link Disk}. */
export class DiskStorage implements CheckpointStorage, JobStorage {
  readonly type = 'disk';
  readonly capabilities: CheckpointStorage['capabilities'];
  readonly steps: string[] = [];
  readonly disk: Disk;
  intercept: Intercept | undefined;
  savepointDirectory: string | undefined;
  isClosed = false;
  #isDead = false;

  constructor(disk: Disk, { intercept, locks = true }: StorageOptions) {
    this.disk = disk;
    this.intercept = intercept;
    this.capabilities = { durable: true, locks, savepoints: true, sharedFiles: true };
  }

  /** The process is gone: nothing it has not finished happens any more, and its lock can be taken over. */
  die(): void {
    this.#isDead = true;
    if (this.disk.owner === this) this.disk.owner = undefined;
  }

  /** Performs a step unless the process dies or the step is made to fail. */
  async act<T>(step: string, apply: () => T): Promise<T> {
    if (!this.#isDead) await this.intercept?.(step, 'before');
    if (this.#isDead) await new Promise(() => undefined);
    const result = apply();
    this.steps.push(step);
    this.disk.onStep();
    await this.intercept?.(step, 'after');
    if (this.#isDead) await new Promise(() => undefined);
    return result;
  }

  async open(): Promise<JobStorage> {
    return this;
  }
  async lock(): Promise<StorageLock> {
    return this.act('lock', () => {
      if (this.disk.owner !== undefined) throw new WeirError('STORAGE_LOCKED', 'another process runs this job');
      this.disk.owner = this;
      const assertOwned = (): void => {
        if (this.disk.owner !== this) throw new WeirError('STORAGE_FENCED', 'the lock is lost');
      };
      return {
        previousAttempt: this.disk.attempt,
        recordAttempt: (attempt) =>
          this.act(`attempt ${String(attempt)}`, () => {
            assertOwned();
            this.disk.attempt = attempt;
          }),
        verify: () => this.act('verify', assertOwned),
        release: () =>
          this.act('release', () => {
            if (this.disk.owner === this) this.disk.owner = undefined;
          }),
      };
    });
  }
  async list(): Promise<readonly StoredCheckpoint[]> {
    return this.act('list', () => [...this.disk.folders.keys()].sort((a, b) => a - b).map((id) => this.#stored(id)));
  }
  async resolve(pointer: string): Promise<StoredCheckpoint> {
    if (this.disk.savepoints.get(pointer)?.metadata !== undefined) return { id: 0, pointer, complete: true };
    for (const disk of [this.disk, ...this.disk.elsewhere]) {
      const id = disk.complete.find((known) => disk.pointer(known) === pointer);
      // As for a folder of any name: the id is not known before the metadata is read.
      if (id !== undefined) return { id: disk === this.disk ? id : 0, pointer, complete: true };
    }
    throw new WeirError('CHECKPOINT_NONE', `There is no checkpoint at ${pointer}`);
  }
  async create(id: CheckpointId): Promise<CheckpointLocation> {
    return this.act(`create ${String(id)}`, () => {
      if (this.disk.folders.has(id)) throw new WeirError('STORAGE_FAILED', `chk-${String(id)} is taken`);
      const folder: Folder = { files: new Set(), metadata: undefined };
      this.disk.folders.set(id, folder);
      return new DiskLocation(this, folder, id, {
        pointer: this.disk.pointer(id),
        name: String(id),
        remove: () => this.disk.folders.delete(id),
        shared: this.disk.shared,
      });
    });
  }
  async createSavepoint(id: CheckpointId, directory: string): Promise<CheckpointLocation> {
    return this.act(`create savepoint ${String(id)}`, () => {
      const folder: Folder = { files: new Set(), metadata: undefined };
      const pointer = `${directory}/savepoint-orders-${String(this.disk.savepoints.size + 1)}`;
      this.disk.savepoints.set(pointer, folder);
      const remove = (): boolean => this.disk.savepoints.delete(pointer);
      return new DiskLocation(this, folder, id, { pointer, name: `savepoint ${String(id)}`, remove });
    });
  }
  async readMetadata({ pointer }: StoredCheckpoint): Promise<Uint8Array> {
    return this.act(`read ${pointer}`, () => {
      const savepoint = this.disk.savepoints.get(pointer)?.metadata;
      if (savepoint !== undefined) return savepoint;
      for (const disk of [this.disk, ...this.disk.elsewhere]) {
        const id = disk.complete.find((known) => disk.pointer(known) === pointer);
        const metadata = id === undefined ? undefined : disk.folders.get(id)?.metadata;
        if (metadata !== undefined) return metadata;
      }
      throw new WeirError('CHECKPOINT_UNREADABLE', `${pointer} has no _metadata`);
    });
  }
  async read({ pointer }: StoredCheckpoint, blob: BlobHandle): Promise<Uint8Array> {
    return this.act(`read blob of ${pointer}`, () => {
      if (blob.kind === 'inline') return blob.bytes;
      throw new WeirError('CHECKPOINT_UNREADABLE', `${pointer}/${blob.path} is missing`);
    });
  }
  async delete({ id, pointer }: StoredCheckpoint): Promise<void> {
    await this.act(`delete ${String(id)}`, () => {
      if (pointer === this.disk.pointer(id)) this.disk.folders.delete(id);
      else this.disk.savepoints.delete(pointer);
    });
  }
  async listShared(): Promise<readonly string[]> {
    return this.act('list shared', () => [...this.disk.shared]);
  }
  async deleteShared(path: string): Promise<void> {
    await this.act(`delete shared ${path}`, () => this.disk.shared.delete(path));
  }
  async readCommitted({ pointer }: StoredCheckpoint): Promise<Uint8Array | undefined> {
    return this.act(`read committed of ${pointer}`, () => this.#folder(pointer)?.committed);
  }
  async writeCommitted({ pointer }: StoredCheckpoint, bytes: Uint8Array): Promise<void> {
    await this.act(`committed ${pointer}`, () => {
      const folder = this.#folder(pointer);
      if (folder?.metadata === undefined) throw new WeirError('STORAGE_FAILED', `${pointer} is gone`);
      folder.committed = bytes;
    });
  }
  async readFinished(): Promise<Uint8Array | undefined> {
    return this.act('read finished', () => this.disk.finished);
  }
  async writeFinished(bytes: Uint8Array): Promise<void> {
    await this.act('finish', () => {
      this.disk.finished = bytes;
    });
  }
  async clearFinished(): Promise<void> {
    await this.act('unfinish', () => {
      this.disk.finished = undefined;
    });
  }
  async close(): Promise<void> {
    this.isClosed = true;
  }

  #folder(pointer: string): Folder | undefined {
    const disks = [this.disk, ...this.disk.elsewhere];
    const found = disks.flatMap((disk) => [...disk.folders].filter(([id]) => disk.pointer(id) === pointer));
    return this.disk.savepoints.get(pointer) ?? found[0]?.[1];
  }
  #stored(id: CheckpointId): StoredCheckpoint {
    return { id, pointer: this.disk.pointer(id), complete: this.disk.complete.includes(id) };
  }
}

/** A pending checkpoint's folder. */
export class DiskLocation implements CheckpointLocation {
  readonly id: CheckpointId;
  readonly pointer: string;
  readonly #storage: DiskStorage;
  readonly #folder: Folder;
  readonly #name: string;
  readonly #remove: () => void;
  readonly #shared: Set<string> | undefined;
  readonly sharedFiles: Set<string> = new Set();
  #isDiscarded = false;

  constructor(
    storage: DiskStorage,
    folder: Folder,
    id: CheckpointId,
    place: {
      readonly pointer: string;
      readonly name: string;
      readonly remove: () => void;
      readonly shared?: Set<string>;
    },
  ) {
    this.#storage = storage;
    this.#folder = folder;
    this.#name = place.name;
    this.#remove = place.remove;
    this.#shared = place.shared;
    this.id = id;
    this.pointer = place.pointer;
  }

  get complete(): boolean {
    return this.#folder.metadata !== undefined;
  }
  createBlob(): never {
    throw new Error('subtasks are made up in these tests; see writePart');
  }
  /** What a subtask does before it acknowledges. */
  writePart(name: string): void {
    if (this.#isDiscarded) throw new WeirError('STORAGE_FAILED', 'discarded');
    this.#folder.files.add(name);
  }
  /** What a subtask does that writes a file for later checkpoints. Its name tells whose it was and what is in it. */
  writeShared(key: string): SharedBlob {
    if (this.#isDiscarded || this.#shared === undefined) throw new WeirError('STORAGE_FAILED', 'discarded');
    const path = `${key}@${String(this.id)}`;
    this.#shared.add(path);
    this.sharedFiles.add(path);
    return { kind: 'shared', key, path, length: 1, algorithm: 'crc32', checksum: 1 };
  }
  async publish(metadata: Uint8Array): Promise<void> {
    await this.#storage.act(`publish ${this.#name}`, () => {
      if (this.#isDiscarded || this.complete) throw new WeirError('STORAGE_FAILED', 'discarded or published');
      this.#folder.metadata = metadata;
    });
  }
  async discard(): Promise<void> {
    await this.#storage.act(`discard ${this.#name}`, () => {
      if (this.complete) throw new WeirError('STORAGE_FAILED', 'complete');
      this.#isDiscarded = true;
      this.#remove();
      for (const path of this.sharedFiles) this.#shared?.delete(path);
    });
  }
}
