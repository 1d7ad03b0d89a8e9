import type { RestorePlan } from '../contracts/coordinator.js';
import type { KeyGroupRange, SectionsHandle } from '../contracts/snapshot.js';

/** Bytes of keyed state, and a handle that describes just these. */
export interface NeededState {
  readonly handle: SectionsHandle;
  readonly bytes: Uint8Array;
}

/**
 * Reads what a handle has of the key groups `wanted`: on rescale several subtasks share a blob, and each of them reads its own part where the storage
 * can do that. A part is not verified as a whole; each of its sections is when it is read.
 */
export async function readNeeded(
  handle: SectionsHandle,
  wanted: KeyGroupRange,
  stored: Pick<RestorePlan, 'read' | 'readPart'>,
): Promise<NeededState> {
  const { blob } = handle;
  const groups = handle.groups.filter(({ keyGroup }) => keyGroup >= wanted.first && keyGroup <= wanted.last);
  const [first] = groups;
  const last = groups.at(-1);
  if (first === undefined || last === undefined) return { handle: { ...handle, groups }, bytes: new Uint8Array() };
  const part = { offset: first.offset, length: last.offset + last.length - first.offset };
  if (blob.kind === 'inline' || part.length === blob.length || stored.readPart === undefined)
    return { handle, bytes: await stored.read(blob) };
  return {
    handle: { ...handle, groups: groups.map((group) => ({ ...group, offset: group.offset - part.offset })) },
    bytes: await stored.readPart(blob, part),
  };
}
