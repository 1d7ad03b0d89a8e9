import { randomUUID } from 'node:crypto';
import type { Random } from '../contracts/clock.js';

export const systemRandom: Random = () => Math.random();

/** A random id that no other process makes. */
export function systemId(): string {
  return randomUUID();
}
