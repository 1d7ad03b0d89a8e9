import { randomUUID } from 'node:crypto';

/** A name that no process on any machine makes twice. */
export function randomId(): string {
  return randomUUID();
}
