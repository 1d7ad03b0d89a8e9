import type { KeyGroup } from './ids.js';
import type { Key } from './key.js';
import { hashKey } from './key-hash.js';

/** Key groups of an operator that sets no maximum parallelism. */
export const DEFAULT_MAX_PARALLELISM = 128;
/** The largest maximum parallelism: a key group fits into 15 bits. */
export const MAX_MAX_PARALLELISM = 32767;

/** Scatters a hash once more; the result is never negative (Flink: MathUtils.murmurHash, which key groups are made of). */
export function flinkMurmur(hash: number): number {
  let h = Math.imul(hash, 0xcc9e2d51);
  h = (h << 15) | (h >>> 17);
  h = Math.imul(h, 0x1b873593);
  h = (h << 13) | (h >>> 19);
  h = (Math.imul(h, 5) + 0xe6546b64) | 0;
  h ^= 4;
  h ^= h >>> 16;
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  h ^= h >>> 16;
  if (h >= 0) return h;
  return h === -0x80000000 ? 0 : -h;
}

/** The key group of a key: below `maxParallelism`, the same in every run and at every parallelism. */
export function keyGroupOf(key: Key, maxParallelism: number): KeyGroup {
  return flinkMurmur(hashKey(key)) % maxParallelism;
}

/** Index of the subtask that owns a key group (Flink: KeyGroupRangeAssignment.computeOperatorIndexForKeyGroup). */
export function subtaskOfKeyGroup(group: KeyGroup, parallelism: number, maxParallelism: number): number {
  return Math.floor((group * parallelism) / maxParallelism);
}

/**
 * The key groups that a subtask owns, both ends included (Flink: KeyGroupRangeAssignment.computeKeyGroupRangeForOperatorIndex).
 * Never empty, as the parallelism is at most the maximum parallelism.
 */
export function keyGroupRange(
  subtask: number,
  parallelism: number,
  maxParallelism: number,
): { readonly first: KeyGroup; readonly last: KeyGroup } {
  return {
    first: Math.ceil((subtask * maxParallelism) / parallelism),
    last: Math.ceil(((subtask + 1) * maxParallelism) / parallelism) - 1,
  };
}
