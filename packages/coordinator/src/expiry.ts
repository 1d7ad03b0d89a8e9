import type { PendingCheckpoint } from './pending-checkpoint.js';

const MOST_NAMED = 3;

/** Whom a checkpoint has waited for in vain. */
export function expiryOf(pending: PendingCheckpoint, blockedMs: number): string {
  const blocked = `, and the event loop of this process was blocked for ${String(Math.round(blockedMs))} ms`;
  return `${waitedFor(pending)}${blockedMs > 0 ? blocked : ''}`;
}

function waitedFor({ phase, location, isHandedOver, awaited, expected }: PendingCheckpoint): string {
  if (phase === 'setting-up')
    return location === undefined ? 'the storage has not made a place for it' : 'a source has not said where it stands';
  if (isHandedOver) return 'the storage has not answered since its metadata was handed over';
  if (phase === 'publishing') return 'the storage has not said whether the lock is still held';
  if (awaited.length === 0) return 'an older checkpoint is still being published';
  const more = awaited.length > MOST_NAMED ? ', …' : '';
  const names = `${awaited.slice(0, MOST_NAMED).join(', ')}${more}`;
  return `${String(awaited.length)} of ${String(expected)} subtasks have not answered: ${names}`;
}
