import type { CommitMark } from '../contracts/sink.js';
import type { CheckpointRef } from '../contracts/snapshot.js';
import type { Lineage } from '../element/ids.js';

/**
 * What was committed in a place that is newer than a checkpoint, or that followed from it by another way: who goes on from the checkpoint writes the
 * same once more. Undefined: nothing of the kind. A lineage without any commit counts for nothing.
 */
export function newerOutput(committed: readonly CommitMark[], restored: CheckpointRef): CommitMark | undefined {
  const origins = new Map(committed.map(({ lineage, from }) => [lineage, from?.lineage]));
  return committed.find(({ lineage, checkpointId }) =>
    lineage === restored.lineage
      ? checkpointId > restored.checkpointId
      : checkpointId > 0 && descends(lineage, restored.lineage, origins),
  );
}

function descends(
  lineage: Lineage,
  from: Lineage,
  origins: ReadonlyMap<Lineage, Lineage | undefined>,
  seen: ReadonlySet<Lineage> = new Set([lineage]),
): boolean {
  const origin = origins.get(lineage);
  if (origin === undefined || seen.has(origin)) return false;
  return origin === from || descends(origin, from, origins, new Set([...seen, origin]));
}
