import type { BlobWriter, CheckpointLocation } from '../../src/contracts/checkpoint-storage.js';
import type { CheckpointId } from '../../src/element/ids.js';

/** What the storage does with a chunk: `undefined` takes it at once. */
export type OnWrite = () => void | Promise<void>;

/** Where a checkpoint is written: everything ends up inline in the handles. */
export function memoryLocation(id: CheckpointId, onWrite: OnWrite = () => undefined): CheckpointLocation {
  return {
    id,
    pointer: `memory:${String(id)}`,
    complete: false,
    createBlob: (): BlobWriter => {
      const chunks: Uint8Array[] = [];
      return {
        write(chunk) {
          chunks.push(Buffer.from(chunk));
          return onWrite();
        },
        finish: () => Promise.resolve({ kind: 'inline', bytes: new Uint8Array(Buffer.concat(chunks)) }),
        abort: () => Promise.resolve(),
      };
    },
    publish: () => Promise.resolve(),
    discard: () => Promise.resolve(),
  };
}
