import type { BlobHandle, KeyedStateHandle } from '../contracts/snapshot.js';

/** Everything in checkpoint storage that a handle of keyed state stands for. */
export function blobsOfKeyed(handle: KeyedStateHandle): readonly BlobHandle[] {
  return handle.format === 'native' ? handle.files.map(({ blob }) => blob) : [handle.blob];
}
