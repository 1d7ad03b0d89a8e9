import type { CheckpointLocation } from '../contracts/checkpoint-storage.js';
import type { Clock } from '../contracts/clock.js';
import type { SubtaskReport } from '../contracts/coordinator.js';
import type { KeyGroupRange } from '../contracts/snapshot.js';
import type { Slice } from '../contracts/state-backend.js';
import type { AttemptNumber, CheckpointId, SubtaskId } from '../element/ids.js';
import { isIoFailure } from '../failures.js';
import type { EncodedChannelState } from '../snapshot/channel-state.js';
import type { EncodedCapture } from '../snapshot/encode-capture.js';
import { writeSnapshot } from '../snapshot/write-snapshot.js';
import { blobsOfKeyed } from '../snapshot/blobs-of-keyed.js';
import type { InFlightCapture } from './in-flight-capture.js';
import type { LocalCopies } from './local-copies.js';
import type { Scheduler } from './scheduler.js';

export interface SnapshotWritesOptions {
  readonly id: SubtaskId;
  readonly attempt: AttemptNumber;
  readonly keyGroups: KeyGroupRange;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly signal: AbortSignal;
  readonly location: (checkpointId: CheckpointId) => CheckpointLocation | undefined;
  /** Keyed state is copied to. */
  readonly localCopies?: LocalCopies | undefined;
  readonly report: (report: SubtaskReport) => void;
  /** What is written could not be reported. */
  readonly onFailed: (error: unknown) => void;
}

export interface SnapshotTiming {
  readonly alignmentMs: number;
  readonly syncMs: number;
}

/** The asynchronous phase of a subtask's checkpoints: writes captures while records flow, then acknowledges or declines (Flink: AsyncCheckpointRunnable). */
export class SnapshotWrites {
  readonly #options: SnapshotWritesOptions;
  readonly #onProgress: () => void;
  readonly #running = new Map<CheckpointId, { readonly abort: AbortController; readonly settled: Promise<void> }>();

  constructor(options: SnapshotWritesOptions, onProgress: () => void) {
    this.#options = options;
    this.#onProgress = onProgress;
  }

  /** Something is being written. */
  get isBusy(): boolean {
    return this.#running.size > 0;
  }

  /** `finished`: the subtask was past its end, and has nothing in `captures` but what is left to commit. */
  start(
    checkpointId: CheckpointId,
    captures: readonly EncodedCapture[],
    timing: SnapshotTiming,
    inFlight?: InFlightCapture,
    loop?: readonly EncodedChannelState[],
    finished = false,
  ): void {
    const location = this.#options.location(checkpointId);
    if (location === undefined) {
      inFlight?.discard();
      for (const { keyed } of captures) keyed?.release();
      return;
    }
    const abort = new AbortController();
    const discard = (): void => inFlight?.discard();
    abort.signal.addEventListener('abort', discard, { once: true });
    const settled = this.#write(checkpointId, captures, location, abort.signal, timing, inFlight, loop, finished)
      .catch(this.#options.onFailed)
      .finally(() => {
        this.#running.delete(checkpointId);
        this.#onProgress();
      });
    this.#running.set(checkpointId, { abort, settled });
  }

  abort(checkpointId: CheckpointId): void {
    this.#running.get(checkpointId)?.abort.abort(new Error(`checkpoint ${String(checkpointId)} was aborted`));
  }

  async close(): Promise<void> {
    for (const { abort } of this.#running.values()) abort.abort(new Error('the subtask is closed'));
    await Promise.all([...this.#running.values()].map(({ settled }) => settled));
  }

  async #write(
    checkpointId: CheckpointId,
    captures: readonly EncodedCapture[],
    location: CheckpointLocation,
    aborted: AbortSignal,
    timing: SnapshotTiming,
    inFlight: InFlightCapture | undefined,
    loop: readonly EncodedChannelState[] | undefined,
    finished: boolean,
  ): Promise<void> {
    const { id: subtask, attempt, keyGroups, clock, localCopies, report } = this.#options;
    // The attempt's own signal: nothing is reported any more once it has failed, also before this subtask is closed.
    const isOver = (): boolean => aborted.aborted || this.#options.signal.aborted;
    const begun = clock.monotonic();
    let written: Awaited<ReturnType<typeof writeSnapshot>>;
    try {
      written = await writeSnapshot({
        subtask,
        attempt,
        checkpointId,
        keyGroups,
        parts: captures,
        loop,
        inFlight: inFlight === undefined ? undefined : () => inFlight.encoded(),
        location,
        keyedLocation: localCopies?.copied(location, subtask.index),
        slice: this.#slice(aborted),
      });
    } catch (error) {
      if (isOver()) return;
      const reason = isIoFailure(error) ? 'IO_EXCEPTION' : 'CHECKPOINT_ASYNC_EXCEPTION';
      report({ kind: 'decline', attempt, subtask, checkpointId, reason, error });
      return;
    }
    if (isOver()) return;
    localCopies?.refersTo(
      checkpointId,
      written.snapshot.operators.flatMap(({ keyed }) => keyed.flatMap(blobsOfKeyed)),
    );
    const asyncMs = clock.monotonic() - begun;
    const { snapshot, stateBytes, writtenBytes } = written;
    const part = finished ? { ...snapshot, finished } : snapshot;
    report({
      kind: 'ack',
      attempt,
      subtask,
      checkpointId,
      snapshot: part,
      stateBytes,
      writtenBytes,
      ...timing,
      asyncMs,
    });
  }

  #slice(signal: AbortSignal): Slice {
    const slice = this.#options.scheduler.backgroundSlice(signal);
    return {
      isOver: () => slice.isOver(),
      next: async () => {
        this.#onProgress();
        await slice.next();
      },
    };
  }
}
