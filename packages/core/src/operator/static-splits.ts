import type { Awaitable } from '../contracts/awaitable.js';
import type { SourceSplit, SplitEnumerator } from '../contracts/source.js';
import { WeirError } from '../errors.js';

/** State of an enumerator of {@link staticSplits}: one split or one id per split of the input. */
interface StaticSplitsState<Split> {
  readonly unassigned: readonly Split[];
  readonly assigned: readonly string[];
  readonly finished: readonly string[];
}

/**
 * An enumerator for splits that are all known at the start: a list, or a function that finds them and is told whether a checkpoint is restored.
 * Deals them out in that order, one to whoever asks; 'end' when none is left, and splits that are handed back go to whoever asks next.
 *
 * After a restore only splits that the checkpoint does not know are added, behind its own. Fails with SOURCE_POSITION_GONE if a split that was
 * still to be read is not found any more, and with PROTOCOL_VIOLATION if two splits have one id. (Flink: StaticFileSplitEnumerator.)
 */
export function staticSplits<Split extends SourceSplit>(
  splits: readonly Split[] | ((restored: boolean) => Awaitable<readonly Split[]>),
): SplitEnumerator<Split> {
  let unassigned: Split[] = [];
  const assigned = new Set<string>();
  const finished = new Set<string>();

  const enumerator: SplitEnumerator<Split> = {
    async start(restored) {
      const state = restored === undefined ? undefined : readState<Split>(restored);
      const found = typeof splits === 'function' ? await splits(state !== undefined) : splits;
      assertDistinct(found);
      if (state !== undefined) assertPresent(state.unassigned, found);
      for (const id of state?.assigned ?? []) assigned.add(id);
      for (const id of state?.finished ?? []) finished.add(id);
      unassigned = addUnknown(state?.unassigned ?? [], assigned, finished, found);
    },
    assign() {
      const split = unassigned.shift();
      if (split === undefined) return 'end';
      assigned.add(split.id);
      return split;
    },
    finished(splitId) {
      if (assigned.delete(splitId)) finished.add(splitId);
    },
    handBack(splits) {
      const returned = splits.filter(({ id }) => assigned.delete(id));
      if (returned.length === 0) return;
      unassigned = [...returned, ...unassigned];
      enumerator.onAvailable?.();
    },
    snapshot(): StaticSplitsState<Split> {
      return { unassigned: [...unassigned], assigned: [...assigned], finished: [...finished] };
    },
    close: () => undefined,
  };
  return enumerator;
}

function addUnknown<Split extends SourceSplit>(
  restored: readonly Split[],
  assigned: ReadonlySet<string>,
  finished: ReadonlySet<string>,
  found: readonly Split[],
): Split[] {
  const waiting = new Set(restored.map(({ id }) => id));
  const unknown = found.filter(({ id }) => !waiting.has(id) && !assigned.has(id) && !finished.has(id));
  return [...restored, ...unknown];
}

function assertDistinct(splits: readonly SourceSplit[]): void {
  const ids = new Set<string>();
  for (const { id } of splits) {
    if (ids.has(id))
      throw new WeirError('PROTOCOL_VIOLATION', `Two splits of a source have the id ${JSON.stringify(id)}.`);
    ids.add(id);
  }
}

function assertPresent(expected: readonly SourceSplit[], found: readonly SourceSplit[]): void {
  const ids = new Set(found.map(({ id }) => id));
  const gone = expected.filter(({ id }) => !ids.has(id));
  if (gone.length === 0) return;
  throw new WeirError(
    'SOURCE_POSITION_GONE',
    `The checkpoint holds splits that were still to be read and are not in the input any more: ${list(gone)}. ` +
      `The input now has ${found.length === 0 ? 'no splits' : list(found)}. Bring them back, or restore from another checkpoint.`,
    { recoverable: false },
  );
}

const MOST_NAMED = 10;

function list(splits: readonly SourceSplit[]): string {
  const names = splits.slice(0, MOST_NAMED).map(({ id }) => JSON.stringify(id));
  const more = splits.length - names.length;
  return names.join(', ') + (more > 0 ? ` and ${String(more)} more` : '');
}

function readState<Split extends SourceSplit>(value: unknown): StaticSplitsState<Split> {
  const state = value as Partial<StaticSplitsState<Split>> | null;
  if (Array.isArray(state?.unassigned) && Array.isArray(state.assigned) && Array.isArray(state.finished)) {
    // A checkpoint of this source holds what `snapshot` gave, so the splits are of its type.
    return state as StaticSplitsState<Split>;
  }
  throw new WeirError(
    'CHECKPOINT_INCOMPATIBLE',
    'The checkpoint holds the state of another kind of split enumerator than the source has now.',
    { recoverable: false },
  );
}
