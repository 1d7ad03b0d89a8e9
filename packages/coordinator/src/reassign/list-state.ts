import type { OperatorStateHandle, OperatorStateShare } from '@weir/core/contracts';
import { byName } from './by-name.js';

/**
 * Deals the values of list state out anew (Flink: RoundRobinOperatorStateRepartitioner). Of each state, the values of all old subtasks, one
 * after the other, are cut into one contiguous run per new subtask. Runs differ in length by at most 1, and where those of one state are
 * longer the next state's are shorter, so that the subtasks' values of all states together differ by at most 1 too.
 *
 * `old` are the list states of each old subtask; the result has what each of `parallelism` new ones takes.
 */
export function dealLists(
  old: readonly (readonly OperatorStateHandle[])[],
  parallelism: number,
): readonly (readonly OperatorStateShare[])[] {
  const dealt = Array.from({ length: parallelism }, (): OperatorStateShare[] => []);
  let first = 0;
  for (const handles of byName(old).values()) {
    const total = handles.reduce((sum, { count }) => sum + count, 0);
    const longer = total % parallelism;
    let from = 0;
    for (let i = 0; i < parallelism; i++) {
      const to = from + Math.floor(total / parallelism) + (i < longer ? 1 : 0);
      dealt[(first + i) % parallelism]?.push(...cut(handles, from, to));
      from = to;
    }
    first = (first + longer) % parallelism;
  }
  return dealt;
}

/** The values `from` to before `to` of all handles together. */
function cut(handles: readonly OperatorStateHandle[], from: number, to: number): OperatorStateShare[] {
  const shares: OperatorStateShare[] = [];
  let start = 0;
  for (const handle of handles) {
    const share = { from: Math.max(from - start, 0), to: Math.min(to - start, handle.count) };
    start += handle.count;
    if (share.from >= share.to) continue;
    shares.push(share.to - share.from === handle.count ? handle : { ...handle, share });
  }
  return shares;
}
