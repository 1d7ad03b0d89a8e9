import type { KeyGroupRange, SectionsHandle } from '../contracts/snapshot.js';
import type { KeyedGroup, KeyedSection } from '../contracts/state-backend.js';
import { ByteReader } from '../element/bytes.js';
import type { KeyGroup } from '../element/ids.js';
import { readPart } from './keyed-sections.js';
import { readingOf } from './unreadable.js';

/**
 * The groups of `wanted` that have state, ascending, each verified as it is reached. `bytes` is what `handle.blob` stands for; `what` names them
 * in messages ("keyed state of operator 'delays' in chk-7"). Throws CHECKPOINT_UNREADABLE for whatever is not as it was written.
 */
export function* readKeyedGroups(
  handle: SectionsHandle,
  bytes: Uint8Array,
  wanted: KeyGroupRange,
  what: string,
): Generator<KeyedGroup, void, undefined> {
  for (const { keyGroup, offset, length } of handle.groups) {
    if (keyGroup < wanted.first || keyGroup > wanted.last) continue;
    yield readingOf(`key group ${keyGroup} of ${what}`, () => {
      if (offset + length > bytes.length) throw new Error(`ends at byte ${offset + length} of only ${bytes.length}`);
      return readGroup(handle, bytes, keyGroup, new ByteReader(bytes, offset, offset + length));
    });
  }
}

function readGroup(handle: SectionsHandle, bytes: Uint8Array, keyGroup: KeyGroup, from: ByteReader): KeyedGroup {
  const mark = readPart(from, bytes, handle.states);
  if (mark.kind !== 'mark' || mark.keyGroup !== keyGroup) throw new Error('begins with something else');
  const sections: KeyedSection[] = [];
  while (from.remaining > 0) {
    const part = readPart(from, bytes, handle.states);
    if (part.kind !== 'section' || part.section.keyGroup !== keyGroup)
      throw new Error('contains something of another group');
    sections.push(handle.format === 'changes' ? { ...part.section, isChange: true } : part.section);
  }
  return { keyGroup, watermark: mark.watermark, sections };
}
