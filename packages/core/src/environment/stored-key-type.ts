import type { RestorePlan } from '../contracts/coordinator.js';
import type { KeyedStateHandle } from '../contracts/snapshot.js';
import { ByteReader } from '../element/bytes.js';
import { decodeKeyBlock } from '../element/key-bytes.js';
import { keyTypeOf, type KeyType } from '../element/key-type.js';
import { readKeyedGroups } from '../snapshot/keyed-section-reader.js';
import { readNeeded } from '../snapshot/read-needed.js';

/** The type of one key that is stored, of a single key group where the storage can read a part; undefined if only a backend could tell. */
export async function storedKeyType(
  handles: readonly KeyedStateHandle[],
  stored: Pick<RestorePlan, 'read' | 'readPart'>,
  what: string,
): Promise<KeyType | undefined> {
  for (const handle of handles) {
    if (handle.format !== 'canonical' || handle.states.length === 0) continue;
    for (const { keyGroup } of handle.groups) {
      const range = { first: keyGroup, last: keyGroup };
      const needed = await readNeeded(handle, range, stored);
      for (const { sections } of readKeyedGroups(needed.handle, needed.bytes, range, what)) {
        const [section] = sections;
        if (section !== undefined) return keyTypeOf(decodeKeyBlock(new ByteReader(section.rows)));
      }
    }
  }
  return undefined;
}
