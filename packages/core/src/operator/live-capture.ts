import type { KeyedCapture, KeyedSection } from '../contracts/state-backend.js';
import type { DeclaredState } from '../state/descriptors.js';
import { rewrittenCapture } from './rewritten-capture.js';

type LiveRows = (section: KeyedSection) => KeyedSection | undefined;

/** What leaves out the expired rows of a store's captures; undefined if none of its states expires. */
export function liveCaptures(
  declared: readonly DeclaredState[],
): ((capture: KeyedCapture) => KeyedCapture) | undefined {
  const byName = new Map<string, LiveRows>();
  for (const { name, liveRows } of declared) if (liveRows !== undefined) byName.set(name, liveRows);
  return byName.size === 0 ? undefined : (capture) => liveCapture(capture, byName);
}

/** The live state keeps what is left out. Changes are written as they are: what they say replaces something that is stored. */
function liveCapture(capture: KeyedCapture, byName: ReadonlyMap<string, LiveRows>): KeyedCapture {
  if (capture.sections === 'changes') return capture;
  return rewrittenCapture(capture, (out) => ({
    section(section) {
      const liveRows = byName.get(section.state.name);
      const live = liveRows === undefined ? section : liveRows(section);
      return live === undefined ? undefined : out.section(live);
    },
    incremental: out.incremental,
  }));
}
