import type {
  AbortReason,
  CheckpointId,
  CheckpointRecord,
  CheckpointStatistics,
  CheckpointStats,
  Clock,
  Counter,
  Histogram,
  JobName,
  Labels,
  Metrics,
} from '@weir/core/contracts';

const HISTORY_LENGTH = 10;

/**
 * Counts, durations and the last few checkpoints of a job, for `statistics()` and as metrics, each with the job's name:
 * counters `weir.checkpoint.triggered`, `weir.checkpoint.completed`, `weir.checkpoint.failed`; gauges `weir.checkpoint.in_progress`,
 * `weir.checkpoint.ms_since_last_completed`, `weir.checkpoint.uncommitted`, `weir.checkpoint.removals_waiting`; histograms `weir.checkpoint.duration_ms`, `weir.checkpoint.alignment_ms`, `weir.checkpoint.state_bytes`.
 */
export class StatisticsRecorder {
  readonly #clock: Clock;
  readonly #startedAt: number;
  #triggered = 0;
  #completed = 0;
  #failed = 0;
  #restored = 0;
  readonly #inProgress = new Set<CheckpointId>();
  #latestCompleted: { readonly stats: CheckpointStats; readonly at: number } | undefined;
  #latestRestored: { readonly checkpointId: CheckpointId; readonly at: number } | undefined;
  #history: readonly CheckpointRecord[] = [];
  readonly #instruments: Record<'triggered' | 'completed' | 'failed', Counter>;
  readonly #distributions: Record<'durationMs' | 'alignmentMs' | 'stateBytes', Histogram>;
  readonly #gauges: (() => void)[];
  readonly #metrics: Metrics;
  readonly #labels: Labels;

  constructor(clock: Clock, metrics: Metrics, job: JobName) {
    const labels = { job };
    this.#metrics = metrics;
    this.#labels = labels;
    this.#clock = clock;
    this.#startedAt = clock.monotonic();
    this.#instruments = {
      triggered: metrics.counter('weir.checkpoint.triggered', labels),
      completed: metrics.counter('weir.checkpoint.completed', labels),
      failed: metrics.counter('weir.checkpoint.failed', labels),
    };
    this.#distributions = {
      durationMs: metrics.histogram('weir.checkpoint.duration_ms', labels),
      alignmentMs: metrics.histogram('weir.checkpoint.alignment_ms', labels),
      stateBytes: metrics.histogram('weir.checkpoint.state_bytes', labels),
    };
    this.#gauges = [
      metrics.gauge('weir.checkpoint.in_progress', () => this.#inProgress.size, labels),
      metrics.gauge('weir.checkpoint.ms_since_last_completed', () => this.#msSinceLastCompleted(), labels),
    ];
  }

  /** What has outlived its checkpoint. */
  watch(read: { readonly uncommitted: () => number; readonly removalsWaiting: () => number }): void {
    const labels = this.#labels;
    this.#gauges.push(
      this.#metrics.gauge('weir.checkpoint.uncommitted', read.uncommitted, labels),
      this.#metrics.gauge('weir.checkpoint.removals_waiting', read.removalsWaiting, labels),
    );
  }

  triggered(checkpointId: CheckpointId, triggeredAt: number, expected: number): void {
    this.#triggered++;
    this.#instruments.triggered.add(1);
    this.#inProgress.add(checkpointId);
    this.#record({ outcome: 'in-progress', checkpointId, triggeredAt, acked: 0, expected });
  }

  /** So many more subtasks have answered, or have finished and need not. */
  acked(checkpointId: CheckpointId, subtasks = 1): void {
    const known = this.#history.find((r) => r.checkpointId === checkpointId);
    if (known?.outcome === 'in-progress') this.#record({ ...known, acked: known.acked + subtasks });
  }

  completed(stats: CheckpointStats): void {
    this.#completed++;
    this.#instruments.completed.add(1);
    this.#distributions.durationMs.record(stats.durationMs);
    this.#distributions.alignmentMs.record(stats.alignmentMs);
    this.#distributions.stateBytes.record(stats.stateBytes);
    this.#inProgress.delete(stats.checkpointId);
    this.#latestCompleted = { stats, at: this.#clock.monotonic() };
    this.#record({ outcome: 'completed', ...stats });
  }

  /** Without an id: a request that somebody made and that failed before it had one. */
  failed(checkpointId: CheckpointId | undefined, reason: AbortReason, message: string): void {
    this.#failed++;
    this.#instruments.failed.add(1);
    if (checkpointId !== undefined) this.#inProgress.delete(checkpointId);
    this.#record({ outcome: 'failed', checkpointId, reason, message, at: this.#clock.now() });
  }

  restored(checkpointId: CheckpointId): void {
    this.#restored++;
    this.#latestRestored = { checkpointId, at: this.#clock.now() };
  }

  read(): CheckpointStatistics {
    return {
      counts: {
        triggered: this.#triggered,
        inProgress: this.#inProgress.size,
        completed: this.#completed,
        failed: this.#failed,
        restored: this.#restored,
      },
      latestCompleted: this.#latestCompleted?.stats,
      latestRestored: this.#latestRestored,
      msSinceLastCompleted: this.#msSinceLastCompleted(),
      history: this.#history,
    };
  }

  /** Takes the gauges away; the numbers stay readable. */
  close(): void {
    for (const remove of this.#gauges) remove();
  }

  #msSinceLastCompleted(): number {
    return this.#clock.monotonic() - (this.#latestCompleted?.at ?? this.#startedAt);
  }

  /** A checkpoint keeps its place in the history from its trigger to its end. */
  #record(record: CheckpointRecord): void {
    const place =
      record.checkpointId === undefined
        ? -1
        : this.#history.findIndex((known) => known.checkpointId === record.checkpointId);
    const longer = place === -1 ? [...this.#history, record] : this.#history.with(place, record);
    this.#history = longer.slice(-HISTORY_LENGTH);
  }
}
