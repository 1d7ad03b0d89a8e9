import type { KeyedCapture, KeyedStateOutput } from '../contracts/state-backend.js';

/** The same capture, whose output goes through what `through` makes of the one it is given. */
export function rewrittenCapture(
  capture: KeyedCapture,
  through: (out: KeyedStateOutput) => KeyedStateOutput,
): KeyedCapture {
  return {
    sections: capture.sections,
    write: (out, slice) => capture.write(through(out), slice),
    written: (handles) => capture.written?.(handles),
    release: () => {
      capture.release();
    },
  };
}
