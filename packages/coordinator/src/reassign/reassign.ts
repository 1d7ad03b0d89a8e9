import {
  isEmptySnapshot,
  keyGroupRange,
  type ChannelStateHandle,
  type KeyType,
  type OperatorMetadata,
  type OperatorRestore,
  type OperatorStateHandle,
  type OperatorStateMode,
  type OperatorStateShare,
  type SubtaskState,
} from '@weir/core/contracts';
import { dealLists } from './list-state.js';
import { dealWhole } from './deal-whole.js';
import { withinRange } from './keyed-state.js';
import { spreadCopies, uniteLists } from './shared-state.js';

/** What each subtask of an operator takes over, by index. */
export type Reassignment = readonly (readonly OperatorRestore[])[];

/**
 * State of an operator's n old subtasks onto its m new ones (Flink: StateAssignmentOperation). With as many as before each one has its own back;
 * union state, and a broadcast copy that a subtask lacks, excepted. A subtask that stored nothing is no hindrance.
 */
export function reassign(
  found: OperatorMetadata,
  to: { readonly parallelism: number; readonly maxParallelism: number },
): Reassignment {
  const { parallelism, maxParallelism } = to;
  const isSame = found.parallelism === parallelism;
  const byIndex = new Map(found.subtasks.map((state) => [state.index, state]));
  const old = Array.from({ length: found.parallelism }, (_, index) => byIndex.get(index));
  const keyed = old.flatMap((state) => state?.keyed ?? []);
  const keyTypes = keyTypesOf(found);
  const operatorState = reassignOperatorState(old, parallelism, isSame);
  const committables = dealWhole(
    old.map((state) => (state?.committables === undefined ? [] : [state.committables])),
    parallelism,
  );
  return Array.from({ length: parallelism }, (_, index) => {
    const [first, ...more] = committables[index] ?? [];
    const part: OperatorRestore = {
      uid: found.uid,
      keyed: isSame ? (old[index]?.keyed ?? []) : withinRange(keyed, keyGroupRange(index, parallelism, maxParallelism)),
      ...(keyTypes !== undefined && { keyTypes }),
      operator: operatorState[index] ?? [],
      committables: first,
      channels: channelsFor(index, old, isSame),
    };
    const rest = more.map((handle) => ({ uid: found.uid, keyed: [], operator: [], committables: handle }));
    // With keys of another type records may come to a subtask that takes nothing over.
    return isEmptySnapshot(part) && keyTypes === undefined ? [] : [part, ...rest];
  });
}

/** Of all subtasks: keys that only one of them has had may come to any of them now. */
function keyTypesOf({ subtasks }: OperatorMetadata): readonly KeyType[] | undefined {
  const known = subtasks.flatMap((subtask) => (subtask.keyTypes === undefined ? [] : [subtask.keyTypes]));
  return known.length === 0 ? undefined : [...new Set(known.flat())];
}

function reassignOperatorState(
  old: readonly (SubtaskState | undefined)[],
  parallelism: number,
  isSame: boolean,
): readonly (readonly OperatorStateShare[])[] {
  const of = (mode: OperatorStateMode): readonly (readonly OperatorStateHandle[])[] =>
    old.map((state) => (state?.operator ?? []).filter((handle) => handle.mode === mode));
  const lists = isSame ? of('list') : dealLists(of('list'), parallelism);
  const unions = uniteLists(of('union'), parallelism);
  const copies = spreadCopies(of('broadcast'), parallelism, isSame);
  return lists.map((list, index) => [...list, ...(unions[index] ?? []), ...(copies[index] ?? [])]);
}

/** In-flight elements: everybody gets all, because which subtask owns one now is for its key to say. Who restores them keeps its own. */
function channelsFor(
  index: number,
  old: readonly (SubtaskState | undefined)[],
  isSame: boolean,
): readonly ChannelStateHandle[] {
  return isSame ? (old[index]?.channels ?? []) : old.flatMap((state) => state?.channels ?? []);
}
