import type { Random } from '@weir/core/contracts';

/** What a crash of the machine leaves of all that was not synced. Any answer is one that a real disk may give. */
export interface CrashOutcome {
  /** Does the unsynced change of this name (created, renamed, removed) survive? Asked in the order of the changes. Default: no. */
  readonly name?: ((path: string) => boolean) | undefined;
  /** What is found in the place of bytes that were not synced; undefined: the file is as it was at its last sync. Default: undefined. */
  readonly bytes?: ((path: string, unsynced: Uint8Array) => Uint8Array | undefined) | undefined;
}

/** Every unsynced name survives and every unsynced byte is gone: a renamed file without content. */
export const NAMES_WITHOUT_BYTES: CrashOutcome = { name: () => true };

/** As {@link NAMES_WITHOUT_BYTES}, but the lengths survive too, with zeros in the place of the bytes. */
export const ZEROED_BYTES: CrashOutcome = {
  name: () => true,
  bytes: (_path, unsynced) => new Uint8Array(unsynced.length),
};

/** Each unsynced name survives or not, and each file keeps a part of its unsynced bytes, as the numbers of `random` fall. */
export function tornBy(random: Random): CrashOutcome {
  return {
    name: () => random() < 0.5,
    bytes: (_path, unsynced) => unsynced.subarray(0, Math.floor(random() * (unsynced.length + 1))),
  };
}
