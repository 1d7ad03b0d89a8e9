import assert from 'node:assert/strict';
import { crc32 } from 'node:zlib';
import {
  WeirError,
  type BlobHandle,
  type BlobWriter,
  type IncrementalOutput,
  type KeyedCapture,
  type KeyedStateHandle,
  type NativeStateHandle,
  type Slice,
  type StoredBytes,
} from '@weir/core/contracts';

export const NEVER_OVER: Slice = { isOver: () => false, next: () => Promise.resolve() };

/** Checkpoint storage as a store sees it, in memory: verified by length and checksum, and open to damage. */
export class StoredFiles implements StoredBytes {
  readonly blobs = new Map<string, Uint8Array>();
  /** Keys of the shared files that were written, in their order. */
  readonly written: string[] = [];
  #opened = 0;

  /** How many blobs were asked for. */
  get opened(): number {
    return this.#opened;
  }

  /** Writes an incremental capture as the engine does. */
  async write(capture: KeyedCapture, slice: Slice = NEVER_OVER): Promise<readonly KeyedStateHandle[]> {
    const handles: KeyedStateHandle[] = [];
    const incremental: IncrementalOutput = {
      watermark: undefined,
      createBlob: (sharedKey) => this.#createBlob(sharedKey),
      add: (handle) => handles.push(handle),
    };
    try {
      await capture.write({ section: () => assert.fail('it has sections'), incremental }, slice);
      capture.written?.(handles);
      return handles;
    } finally {
      capture.release();
    }
  }

  async *open(blob: BlobHandle): AsyncIterable<Uint8Array> {
    assert(blob.kind !== 'inline');
    this.#opened++;
    const bytes = this.blobs.get(blob.path);
    if (bytes?.length !== blob.length || crc32(bytes) !== blob.checksum)
      throw new WeirError('CHECKPOINT_UNREADABLE', `${blob.path} is damaged`);
    yield bytes;
    await Promise.resolve();
  }

  #createBlob(key: string | undefined): BlobWriter {
    const chunks: Uint8Array[] = [];
    return {
      write: (chunk) => {
        chunks.push(Uint8Array.from(chunk));
      },
      finish: () => {
        const bytes = Buffer.concat(chunks);
        const path = `file-${String(this.blobs.size)}`;
        this.blobs.set(path, bytes);
        const stored = { path, length: bytes.length, algorithm: 'crc32', checksum: crc32(bytes) } as const;
        if (key === undefined) return Promise.resolve({ kind: 'blob', ...stored });
        this.written.push(key);
        return Promise.resolve({ kind: 'shared', key, ...stored });
      },
      abort: () => Promise.resolve(),
    };
  }
}

export function nativeOf(handles: readonly KeyedStateHandle[]): NativeStateHandle {
  assert(handles.length === 1 && handles[0]?.format === 'native');
  return handles[0];
}
