import type { SerializerRef } from '../contracts/serializer.js';

// The version of a state's values stands behind the id of their serializer: `msgpack#3`. Version 1 has no number, so that files from before there
// were versions are of version 1. A weir without versions takes it for a serializer that it does not know, and refuses.

const NUMBER = /^(.*)#([1-9]\d*)$/s;

/** How stored values were written. */
export interface StoredVersion {
  readonly serializer: SerializerRef;
  /** Of the values, as the state declared it. */
  readonly version: number;
}

/** The serializer that wrote values, and their version. */
export function storedVersion(stored: SerializerRef): StoredVersion {
  const [, id, number] = NUMBER.exec(stored.id) ?? [];
  return id === undefined || number === undefined
    ? { serializer: { id: stored.id, version: stored.version }, version: 1 }
    : { serializer: { id, version: stored.version }, version: Number(number) };
}

/** The id that a serializer has in checkpoints when it writes values of `version`. */
export function idWithVersion(id: string, version: number): string {
  return version === 1 ? id : `${id}#${String(version)}`;
}

/** Whether an id would be taken for one with a version of values. */
export function looksVersioned(id: string): boolean {
  return NUMBER.test(id);
}
