import type { Awaitable } from '../contracts/awaitable.js';
import type { SourceContext, SourceSplit, SplitEnumerator } from '../contracts/source.js';
import { WeirError } from '../errors.js';

/** State of an enumerator of {@link staticSplits}: one split or one id per split of the input. */
interface StaticSplitsState<Split> {
  readonly unassigned: readonly Split[];
  readonly assigned: readonly string[];
  readonly finished: readonly string[];
}

export interface StaticSplitsOptions {
  /** What the source's `enumerator` was given: errors then name the source. */
  readonly context?: SourceContext | undefined;
  /** True: the splits are always the same, so a checkpoint with others was taken of other input and is refused. Default false: some may be added. */
  readonly fixed?: boolean | undefined;
}

/**
 * An enumerator for splits that are all known at the start: a list, or a function that finds them and is told whether a checkpoint is restored.
 * Deals them out in that order, one to whoever asks; 'end' when none is left, and splits that are handed back go to whoever asks next.
 *
 * After a restore only splits that the checkpoint does not know are added, behind its own. Fails with SOURCE_POSITION_GONE if a split that was
 * still to be read is not found any more, with PROTOCOL_VIOLATION if two splits have one id, and where they are fixed with CHECKPOINT_INCOMPATIBLE
 * if they are not those of the checkpoint. (Flink: StaticFileSplitEnumerator.)
 */
export function staticSplits<Split extends SourceSplit>(
  splits: readonly Split[] | ((restored: boolean) => Awaitable<readonly Split[]>),
  { context, fixed = false }: StaticSplitsOptions = {},
): SplitEnumerator<Split> {
  const name = context === undefined ? 'A source' : `Source ${context.uid} of job ${context.job}`;
  let unassigned: Split[] = [];
  const assigned = new Set<string>();
  const finished = new Set<string>();

  const enumerator: SplitEnumerator<Split> = {
    async start(restored) {
      const state = restored === undefined ? undefined : readState<Split>(name, restored);
      const found = typeof splits === 'function' ? await splits(state !== undefined) : splits;
      assertDistinct(name, found);
      if (state !== undefined && fixed) assertSame(name, state, found);
      if (state !== undefined) assertPresent(name, state.unassigned, found);
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

function assertDistinct(name: string, splits: readonly SourceSplit[]): void {
  const ids = new Set<string>();
  for (const { id } of splits) {
    if (ids.has(id))
      throw new WeirError('PROTOCOL_VIOLATION', `${name} has two splits with the id ${JSON.stringify(id)}.`, {
        recoverable: false,
      });
    ids.add(id);
  }
}

function assertSame(
  name: string,
  { unassigned, assigned, finished }: StaticSplitsState<SourceSplit>,
  found: readonly SourceSplit[],
): void {
  const stored = new Set([...unassigned.map(({ id }) => id), ...assigned, ...finished]);
  if (stored.size === found.length && found.every(({ id }) => stored.has(id))) return;
  throw new WeirError(
    'CHECKPOINT_INCOMPATIBLE',
    `${name} has other splits than the checkpoint: ${list(found)} instead of ${list([...stored].map((id) => ({ id })))}. ` +
      'Its positions belong to those, and with the new ones records would be repeated or lost. ' +
      "Set the source up as it was, or start with restoreFrom: 'none'.",
    { recoverable: false },
  );
}

function assertPresent(name: string, expected: readonly SourceSplit[], found: readonly SourceSplit[]): void {
  const ids = new Set(found.map(({ id }) => id));
  const gone = expected.filter(({ id }) => !ids.has(id));
  if (gone.length === 0) return;
  throw new WeirError(
    'SOURCE_POSITION_GONE',
    `${name} was still to read splits that are not in its input any more: ${list(gone)}. ` +
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

function readState<Split extends SourceSplit>(name: string, value: unknown): StaticSplitsState<Split> {
  const state = value as Partial<StaticSplitsState<Split>> | null;
  if (Array.isArray(state?.unassigned) && Array.isArray(state.assigned) && Array.isArray(state.finished)) {
    // A checkpoint of this source holds what `snapshot` gave, so the splits are of its type.
    return state as StaticSplitsState<Split>;
  }
  throw new WeirError(
    'CHECKPOINT_INCOMPATIBLE',
    `${name} has another kind of split enumerator now than the checkpoint holds the state of.`,
    { recoverable: false },
  );
}
