import type { StateExpiry } from '@weir/core/contracts';

/** User code can change such a value without telling the state that holds it. */
export function isMutable(value: unknown, expiry?: StateExpiry): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return expiry === undefined || isMutable(expiry.shown(value));
}
