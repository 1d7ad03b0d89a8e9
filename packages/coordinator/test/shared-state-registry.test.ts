import type { SharedBlob } from '@weir/core/contracts';
import { describe, expect, test } from 'vitest';
import { SharedStateRegistry } from '../src/shared-state-registry.js';

function blob(key: string, path = key, checksum = 1): SharedBlob {
  return { kind: 'shared', key, path, length: 1, algorithm: 'crc32', checksum };
}
/** A checkpoint with these files, all written for it, that is complete. */
function complete(registry: SharedStateRegistry, checkpointId: number, ...blobs: readonly SharedBlob[]): void {
  const written = new Set(blobs.map(({ path }) => path));
  for (const each of blobs) registry.register(each, { checkpointId, written });
  registry.checkpointCompleted(checkpointId);
}
const nothing: ReadonlySet<string> = new Set();

describe('a file that several checkpoints are made of', () => {
  test('testRegistryNormal: two that only checkpoint 0 has are given up once no checkpoint below 1 is left', () => {
    const registry = new SharedStateRegistry();
    complete(registry, 0, blob('first'), blob('second'));
    expect(registry.unregisterUnused(0)).toEqual([]);
    expect(registry.unregisterUnused(1)).toEqual(['first', 'second']);
    expect(registry.unregisterUnused(1)).toEqual([]);
  });

  test('testRegisterChangelogStateBackendHandles: one that 41 and 42 have outlives 41, and is given up with 42', () => {
    const registry = new SharedStateRegistry();
    complete(registry, 41, blob('base'));
    expect(registry.register(blob('base'), { checkpointId: 42, written: nothing })).toEqual(blob('base'));
    registry.checkpointCompleted(42);
    expect(registry.unregisterUnused(42)).toEqual([]);
    complete(registry, 43, blob('other'));
    expect(registry.unregisterUnused(43)).toEqual(['base']);
  });

  test('is the first one that a complete checkpoint had, although it was written again for the next', () => {
    const registry = new SharedStateRegistry();
    complete(registry, 1, blob('a', 'a@1'));
    const written = new Set(['a@2']);
    expect(registry.register(blob('a', 'a@2'), { checkpointId: 2, written })).toEqual(blob('a', 'a@1'));
    // Also for who goes on to refer to its own.
    expect(registry.register(blob('a', 'a@2'), { checkpointId: 3, written: nothing })).toEqual(blob('a', 'a@1'));
    expect(registry.unregisterUnused(3)).toEqual([]);
    expect(registry.unregisterUnused(4)).toEqual(['a@1']);
  });

  test('is replaced if no complete checkpoint had it: who wrote it has started over with the name', () => {
    const registry = new SharedStateRegistry();
    registry.register(blob('a', 'a@1', 7), { checkpointId: 1, written: new Set(['a@1']) });
    const again = blob('a', 'a@2', 8);
    expect(registry.register(again, { checkpointId: 2, written: new Set(['a@2']) })).toEqual(again);
    // 1 may be complete all the same, for all that is known.
    expect(registry.unregisterUnused(1)).toEqual([]);
    expect(registry.unregisterUnused(2)).toEqual(['a@1']);
    expect(registry.unregisterUnused(3)).toEqual(['a@2']);
  });

  test('is needed for as long as the newest that has it, in whatever order they are registered', () => {
    const registry = new SharedStateRegistry();
    complete(registry, 5, blob('a'));
    registry.register(blob('a'), { checkpointId: 3, written: nothing });
    expect(registry.unregisterUnused(5)).toEqual([]);
    expect(registry.unregisterUnused(6)).toEqual(['a']);
  });

  test('is never given up if it is somebody else’s', () => {
    const registry = new SharedStateRegistry();
    registry.pin(['a']);
    complete(registry, 1, blob('a'), blob('b'));
    expect(registry.unregisterUnused(2)).toEqual(['b']);
  });
});

describe('a checkpoint that could not be restored', () => {
  test('because a file is gone, or never was, is refused', () => {
    const registry = new SharedStateRegistry();
    complete(registry, 1, blob('a'));
    registry.unregisterUnused(2);
    expect(() => registry.register(blob('a'), { checkpointId: 3, written: nothing })).toThrow(
      expect.objectContaining({
        code: 'PROTOCOL_VIOLATION',
        message: expect.stringMatching(/Checkpoint 3 .* file a /),
      }),
    );
    // Nor does a failed one make it good.
    registry.register(blob('b', 'b@3'), { checkpointId: 3, written: new Set(['b@3']) });
    expect(() => registry.register(blob('b', 'b@2'), { checkpointId: 4, written: nothing })).toThrow(
      /refers to shared/,
    );
  });

  test('because one key stands for two contents is refused', () => {
    const registry = new SharedStateRegistry();
    complete(registry, 1, blob('a', 'a@1', 7));
    expect(() => registry.register(blob('a', 'a@2', 8), { checkpointId: 2, written: new Set(['a@2']) })).toThrow(
      expect.objectContaining({ code: 'PROTOCOL_VIOLATION', message: expect.stringMatching(/a@2.*'a'.*a@1/) }),
    );
  });
});

describe('complete checkpoints that are found at the start', () => {
  test('have their files registered, the newer one’s where a key has had two', () => {
    const registry = new SharedStateRegistry();
    registry.restored(blob('a', 'a@1'), 1);
    registry.restored(blob('b', 'b@1'), 1);
    registry.restored(blob('a', 'a@2'), 2);
    registry.restored(blob('b', 'b@1'), 2);
    expect(registry.register(blob('a', 'a@2'), { checkpointId: 3, written: nothing })).toEqual(blob('a', 'a@2'));
    expect(registry.unregisterUnused(2)).toEqual(['a@1']);
    expect(registry.unregisterUnused(3)).toEqual(['b@1']);
    expect(registry.unregisterUnused(4)).toEqual(['a@2']);
  });
});
