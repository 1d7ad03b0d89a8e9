import { staticSplits, type SourceSplit, type SplitEnumerator } from '@weir/core/contracts';

/** One thing that an enumerator of these tests does wrong. */
export type EnumeratorFault =
  | 'replans on restore'
  | 'forgets what is finished'
  | 'finishes what begins alike'
  | 'deals twice'
  | 'keeps what is handed back'
  | 'says nothing of what is handed back'
  | 'gives back less than a split'
  | 'snapshot without what was handed back'
  | 'snapshot without what is assigned'
  | 'snapshot of nothing'
  | 'snapshot is alive'
  | 'other ids in each run'
  | 'split that no checkpoint takes'
  | 'ends while splits are left';

let runs = 0;

/** Deals out splits with these ids; right in everything but its fault. */
export function arrayEnumerator(ids: readonly string[], fault: string | undefined): SplitEnumerator {
  const run = runs++;
  const named = fault === 'other ids in each run' ? ids.map((id) => (run % 2 === 0 ? id : `${id}'`)) : ids;
  const inner = staticSplits(named.map((id) => splitOf(id, fault)));
  const dealt: SourceSplit[] = [];
  const back = new Set<string>();
  return {
    start: (restored) => inner.start(fault === 'replans on restore' ? undefined : restored),
    assign(subtask) {
      if (fault === 'ends while splits are left' && subtask > 0) return 'end';
      const again = fault === 'deals twice' && dealt.length === ids.length ? dealt.shift() : undefined;
      const split = again ?? inner.assign(subtask);
      if (typeof split === 'object') dealt.push(split);
      return split;
    },
    finished(id) {
      if (fault === 'forgets what is finished') inner.handBack([{ id }]);
      else inner.finished(id);
      if (fault === 'finishes what begins alike')
        for (const other of ids) if (other.startsWith(id)) inner.finished(other);
    },
    handBack(splits) {
      if (fault === 'keeps what is handed back') return;
      if (fault !== 'says nothing of what is handed back') inner.onAvailable = this.onAvailable;
      for (const { id } of splits) back.add(id);
      inner.handBack(fault === 'gives back less than a split' ? splits.map(({ id }) => ({ id })) : splits);
    },
    snapshot() {
      const state = inner.snapshot() as { unassigned: SourceSplit[]; assigned: string[]; finished: string[] };
      switch (fault) {
        case 'snapshot is alive':
          return Object.assign(state, { dealt });
        case 'snapshot of nothing':
          return undefined;
        case 'snapshot without what is assigned':
          return { ...state, assigned: [] };
        case 'snapshot without what was handed back':
          return {
            unassigned: state.unassigned.filter(({ id }) => !back.has(id)),
            assigned: [...state.assigned, ...back],
            finished: state.finished,
          };
        default:
          return state;
      }
    },
    close: () => inner.close(),
  };
}

/** More than an id: what else is in a split has to stay with it. */
function splitOf(id: string, fault: string | undefined): SourceSplit {
  const split = { id, length: id.length };
  return fault === 'split that no checkpoint takes' ? Object.assign(split, { read: () => id }) : split;
}
