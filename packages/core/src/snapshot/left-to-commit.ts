import type { EncodedCapture } from './encode-capture.js';

/** What is worth keeping of operators that have finished: output that is prepared and not committed. Nobody will ask for their state again. */
export function leftToCommit(captures: readonly EncodedCapture[]): readonly EncodedCapture[] {
  for (const { keyed } of captures) keyed?.release();
  return captures
    .filter(({ committables }) => committables !== undefined)
    .map((capture) => ({ ...capture, keyed: undefined, operator: [] }));
}
