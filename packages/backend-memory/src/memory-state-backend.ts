import { WeirError } from '@weir/core/contracts';
import type { StateBackend } from '@weir/core/contracts';
import { MemoryKeyedStateStore } from './memory-keyed-state-store.js';

export interface MemoryStateOptions {
  /**
   * Bytes that the captures of one subtask's operator may hold beyond the state itself, default 16 MiB. Above that the stage takes no
   * records until writing has caught up.
   */
  readonly preservedBytes?: number | undefined;
}

export const DEFAULT_PRESERVED_BYTES: number = 16 * 1024 * 1024;

/**
 * Keyed state as live JavaScript values in the heap (Flink: the hashmap state backend). A record costs one look-up per state and allocates
 * nothing for a key that is there. Capturing is O(1); see {@link MemoryStateOptions.preservedBytes} for what it may cost in memory.
 */
export function createMemoryStateBackend({
  preservedBytes = DEFAULT_PRESERVED_BYTES,
}: MemoryStateOptions = {}): StateBackend {
  if (!Number.isSafeInteger(preservedBytes) || preservedBytes < 1) {
    throw new WeirError('CONFIG_INVALID', `preservedBytes must be a number of bytes, not ${preservedBytes}.`, {
      recoverable: false,
    });
  }
  return {
    type: 'memory',
    capabilities: { keepsIdentity: true, incremental: true },
    open: (scope) => new MemoryKeyedStateStore(scope, preservedBytes),
  };
}
