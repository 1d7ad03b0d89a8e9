import assert from 'node:assert/strict';
import { crc32 } from 'node:zlib';
import {
  ByteWriter,
  KeyedSectionWriter,
  readKeyedGroups,
  type BlobHandle,
  type BlobWriter,
  type CheckpointId,
  type KeyGroupRange,
  type KeyedCapture,
  type KeyedSection,
  type KeyedStateHandle,
  type KeyedStateStore,
  type SharedBlob,
} from '@weir/core/contracts';

interface StoredFile {
  readonly bytes: Uint8Array;
  readonly createdBy: CheckpointId;
  /** The newest checkpoint that refers to it. */
  lastUsed: CheckpointId;
}

/** Where the files of checkpoints lie, each for as long as a checkpoint needs it that is not overtaken, and not a moment longer. */
export class Shelf {
  readonly #files = new Map<string, StoredFile>();
  readonly #byKey = new Map<string, SharedBlob>();
  #nextFile = 1;

  createBlob(checkpointId: CheckpointId, sharedKey?: string): BlobWriter {
    const path = `file-${String(this.#nextFile++)}`;
    const bytes = new ByteWriter();
    return {
      write: (chunk) => {
        bytes.bytes(chunk);
      },
      finish: async () => {
        this.#files.set(path, { bytes: bytes.toBytes(), createdBy: checkpointId, lastUsed: checkpointId });
        const file = { path, length: bytes.length, algorithm: 'crc32', checksum: crc32(bytes.view()) } as const;
        return sharedKey === undefined ? { kind: 'blob', ...file } : { kind: 'shared', key: sharedKey, ...file };
      },
      abort: async () => {
        this.#files.delete(path);
      },
    };
  }

  /** Makes a file of sections. */
  async store(
    checkpointId: CheckpointId,
    sections: readonly KeyedSection[],
    { sections: kind = 'private' }: KeyedCapture,
    range: KeyGroupRange,
  ): Promise<readonly KeyedStateHandle[]> {
    const writer = new KeyedSectionWriter({
      range,
      watermark: undefined,
      createBlob: () =>
        this.createBlob(checkpointId, kind === 'private' ? undefined : `sections of ${String(this.#nextFile)}`),
    });
    for (const section of sections) {
      assert.equal(section.isChange === true, kind === 'changes', 'a section says what the capture says of it');
      await writer.section(section);
    }
    const handle = await writer.finish();
    if (handle === undefined) return [];
    return [kind === 'changes' ? { ...handle, format: 'changes' } : handle];
  }

  /**
   * A checkpoint that consists of these has completed: all files are there, and those that it does not need go. Of two files of one key the first stays,
   * so the checkpoint really consists of what is returned.
   */
  complete(checkpointId: CheckpointId, handles: readonly KeyedStateHandle[]): readonly KeyedStateHandle[] {
    const kept = handles.map((handle) => withBlobs(handle, (blob) => this.#register(checkpointId, blob)));
    for (const [path, { lastUsed }] of this.#files) if (lastUsed < checkpointId) this.#files.delete(path);
    for (const [key, { path }] of this.#byKey) if (!this.#files.has(path)) this.#byKey.delete(key);
    return kept;
  }
  /** It will not complete. */
  discard(checkpointId: CheckpointId): void {
    for (const [path, { createdBy }] of this.#files) if (createdBy === checkpointId) this.#files.delete(path);
  }
  /** Its files are the user's, who has removed them. */
  forget(handles: readonly KeyedStateHandle[]): void {
    for (const blob of handles.flatMap(blobsOf)) if (blob.kind !== 'inline') this.#files.delete(blob.path);
  }

  /** Gives a store of these key groups what the handles stand for. */
  async restore(
    store: KeyedStateStore,
    checkpointId: CheckpointId,
    all: readonly KeyedStateHandle[],
    range: KeyGroupRange,
    isOwned: boolean,
  ): Promise<void> {
    const what = `checkpoint ${String(checkpointId)}`;
    const handles = all.filter((handle) => handle.range.first <= range.last && handle.range.last >= range.first);
    const bytesOf = (blob: BlobHandle): Uint8Array =>
      blob.kind === 'inline' ? blob.bytes : this.#file(blob, what).bytes;
    for (const handle of handles) {
      if (handle.format !== 'native') continue;
      if (store.restoreNative === undefined) assert.fail('a store reads what it has written');
      await store.restoreNative(handle, {
        async *open(blob) {
          yield bytesOf(blob);
        },
      });
    }
    for (const handle of handles) {
      if (handle.format === 'native') continue;
      for (const { sections } of readKeyedGroups(handle, bytesOf(handle.blob), range, what)) {
        for (const section of sections) store.restore(section);
      }
    }
    store.restored?.({ checkpointId, handles, isOwned });
  }

  #register(checkpointId: CheckpointId, blob: BlobHandle): BlobHandle {
    if (blob.kind === 'inline') return blob;
    const what = `checkpoint ${String(checkpointId)}`;
    if (blob.kind === 'blob') {
      const { lastUsed } = this.#file(blob, what);
      assert(
        lastUsed === checkpointId,
        `${what} refers to a file that belongs to checkpoint ${String(lastUsed)} alone`,
      );
      return blob;
    }
    const kept = this.#byKey.get(blob.key) ?? blob;
    const file = this.#file(kept, what);
    if (kept.path !== blob.path) this.#files.delete(blob.path);
    file.lastUsed = Math.max(file.lastUsed, checkpointId);
    this.#byKey.set(kept.key, kept);
    return kept;
  }
  #file(blob: BlobHandle, what: string): StoredFile {
    assert(blob.kind !== 'inline');
    const file = this.#files.get(blob.path);
    assert(file, `${what} refers to ${blob.path}, which is gone: the checkpoint that needed it was overtaken`);
    return file;
  }
}

/** Bytes that a checkpoint consists of, without those that another consists of as well. */
export function sizeOf(handles: readonly KeyedStateHandle[], without: readonly KeyedStateHandle[] = []): number {
  const others = new Set(without.flatMap(blobsOf).map(pathOf));
  const own = handles.flatMap(blobsOf).filter((blob) => blob.kind === 'inline' || !others.has(pathOf(blob)));
  return own.reduce((sum, blob) => sum + (blob.kind === 'inline' ? blob.bytes.length : blob.length), 0);
}

function pathOf(blob: BlobHandle): string | undefined {
  return blob.kind === 'inline' ? undefined : blob.path;
}

function blobsOf(handle: KeyedStateHandle): readonly BlobHandle[] {
  return handle.format === 'native' ? handle.files.map(({ blob }) => blob) : [handle.blob];
}

function withBlobs(handle: KeyedStateHandle, change: (blob: BlobHandle) => BlobHandle): KeyedStateHandle {
  return handle.format === 'native'
    ? { ...handle, files: handle.files.map(({ name, blob }) => ({ name, blob: change(blob) })) }
    : { ...handle, blob: change(handle.blob) };
}
