import { WeirError, isWeirError, messageOf } from '../errors.js';

/**
 * CHECKPOINT_UNREADABLE for bytes that are not what was once written. `what` names them ("_metadata of chk-42"), `fault` says what is wrong and
 * where. Restarting reads the same bytes again, so it does not help.
 */
export function unreadable(what: string, fault: string, cause?: unknown): WeirError {
  return new WeirError('CHECKPOINT_UNREADABLE', `${what} ${fault}. Restore from another checkpoint.`, {
    cause,
    recoverable: false,
  });
}

/** Runs `read`; reading past the end or malformed bytes becomes CHECKPOINT_UNREADABLE, as does any other failure to decode. */
export function readingOf<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (isWeirError(error)) throw error;
    throw unreadable(what, `is malformed (${messageOf(error)})`, error);
  }
}
