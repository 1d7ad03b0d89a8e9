import { WeirError, type SourceContext, type SourceSplit, type SplitEnumerator } from '@weir/core/contracts';

type Progress = 'unassigned' | 'assigned' | 'finished';

/** An enumerator of one split. `begin` is called at the start, before anything runs, unless the split was read to its end before a restore. */
export function onlySplit(split: SourceSplit, context: SourceContext, begin: () => void): SplitEnumerator {
  let progress: Progress = 'unassigned';
  const enumerator: SplitEnumerator = {
    start(restored) {
      if (restored !== undefined) progress = readProgress(restored, context);
      if (progress !== 'finished') begin();
    },
    assign() {
      if (progress !== 'unassigned') return 'end';
      progress = 'assigned';
      return split;
    },
    finished() {
      progress = 'finished';
    },
    handBack(splits) {
      if (progress !== 'assigned' || !splits.some(({ id }) => id === split.id)) return;
      progress = 'unassigned';
      enumerator.onAvailable?.();
    },
    snapshot: () => progress,
    close: () => undefined,
  };
  return enumerator;
}

function readProgress(restored: unknown, { job, uid }: SourceContext): Progress {
  if (restored === 'unassigned' || restored === 'assigned' || restored === 'finished') return restored;
  throw new WeirError(
    'CHECKPOINT_INCOMPATIBLE',
    `Source ${uid} of job ${job} has another kind of split enumerator now than the checkpoint holds the state of.`,
    { recoverable: false },
  );
}
