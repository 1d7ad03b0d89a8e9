import { causesOf } from '../errors.js';

/**
 * Makes texts of the stacks of an error and of its causes. Until somebody reads one, V8 keeps the frames themselves, and with them whatever their
 * functions were called on: an error that is kept for later would keep the whole attempt it ended, state and all.
 */
export function materializeStacks(error: unknown): void {
  for (const cause of causesOf(error)) {
    try {
      Reflect.get(cause, 'stack');
    } catch {
      // It was thrown by a stranger, and has a getter that throws.
    }
  }
}
