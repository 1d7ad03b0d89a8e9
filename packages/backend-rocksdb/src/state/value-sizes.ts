import type { StateExpiry } from '@weir/core/contracts';

/** What live values take, measured in the bytes that they are stored as: known for scalars, for objects the mean of those that were encoded. */
export class ValueSizes {
  #ofObjects = 64;

  of(value: unknown): number {
    switch (typeof value) {
      case 'number':
        return 9;
      case 'string':
        return 4 + value.length;
      case 'object':
        return value === null ? 1 : this.#ofObjects;
      case 'bigint':
        return 16;
      default:
        return 1;
    }
  }
  /** An object was stored in so many bytes. */
  learn(value: unknown, bytes: number): void {
    if (typeof value === 'object') this.#ofObjects += (bytes - this.#ofObjects) / 16;
  }
}

/** User code can change such a value without telling the state that holds it. */
export function isMutable(value: unknown, expiry?: StateExpiry): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return expiry === undefined || isMutable(expiry.shown(value));
}
