import { expect } from 'vitest';
import { isWeirError, messageOf } from '../../src/errors.js';

/** Reads every damaged form of `bytes` (each bit flipped, each truncation, something appended) and expects CHECKPOINT_UNREADABLE each time. */
export function expectAllDamageIsNoticed(bytes: Uint8Array, read: (bytes: Uint8Array) => void, name: RegExp): void {
  const noticed = (damaged: Uint8Array, what: string): void => {
    const error = thrownBy(() => read(damaged));
    if (error === undefined) expect.fail(`${what} was not noticed`);
    if (!isWeirError(error, 'CHECKPOINT_UNREADABLE')) expect.fail(`${what} gave ${messageOf(error)}`);
    expect(error.message).toMatch(name);
    expect(error.recoverable).toBe(false);
  };
  for (let at = 0; at < bytes.length; at++) {
    for (let bit = 0; bit < 8; bit++) {
      const damaged = Uint8Array.from(bytes);
      damaged[at]! ^= 1 << bit;
      noticed(damaged, `bit ${bit} of byte ${at}`);
    }
    noticed(bytes.slice(0, at), `the end at byte ${at}`);
  }
}

function thrownBy(action: () => void): unknown {
  try {
    action();
    return undefined;
  } catch (error) {
    return error;
  }
}
