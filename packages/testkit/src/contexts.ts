import {
  NO_METRICS,
  SILENT,
  systemClock,
  type ReaderContext,
  type SinkWriterContext,
  type SourceContext,
} from '@weir/core/contracts';
import { seededRandom } from './seeded-random.js';

/** What a source is given when nothing around it matters: job `test`, operator `source`, attempt 1, one subtask, the real clock. */
export function sourceContext(changes: Partial<SourceContext> = {}): SourceContext {
  return {
    job: 'test',
    uid: 'source',
    attempt: 1,
    parallelism: 1,
    clock: systemClock,
    random: seededRandom(1),
    logger: SILENT,
    metrics: NO_METRICS,
    signal: new AbortController().signal,
    ...changes,
  };
}

/** The same for a reader: subtask 0. */
export function readerContext(changes: Partial<ReaderContext> = {}): ReaderContext {
  return { ...sourceContext(changes), subtask: 0, ...changes };
}

/** Shared, so that what a sink makes of chance differs from attempt to attempt, and is the same in each run. */
const chance = seededRandom(1);

/** What a sink writer is given when nothing around it matters: lineage `lineage`, attempt 1, subtask 0 of 1, checkpointing on, a fresh start. */
export function sinkContext(changes: Partial<SinkWriterContext> = {}): SinkWriterContext {
  return {
    ...sourceContext({ uid: 'sink', random: chance }),
    lineage: 'lineage',
    restoredFrom: undefined,
    checkpointing: true,
    subtask: 0,
    restoredState: [],
    commitNow: () => Promise.resolve(),
    ...changes,
  };
}
