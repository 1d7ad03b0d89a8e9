import type { Metrics } from '../contracts/metrics.js';
import type { JobName } from '../element/ids.js';
import type { Subtask } from './subtask.js';

/** Shows what a subtask does, to whoever collects; the returned function ends it. Counting is a number in the subtask, nothing per record here. */
export function showSubtask(metrics: Metrics, job: JobName, subtask: Subtask): () => void {
  const labels = { job, stage: subtask.id.stage, subtask: String(subtask.id.index) };
  const gauges = [
    metrics.gauge('weir.subtask.records_in', () => subtask.recordsIn, labels),
    metrics.gauge('weir.subtask.records_out', () => subtask.recordsOut, labels),
    metrics.gauge('weir.subtask.back_pressured', () => (subtask.isBackPressured ? 1 : 0), labels),
  ];
  return () => {
    for (const remove of gauges) remove();
  };
}
