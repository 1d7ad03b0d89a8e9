import type {
  ChannelStateHandle,
  CheckpointId,
  CheckpointTrigger,
  Committable,
  JobEvent,
  StoredCheckpoint,
} from '@weir/core/contracts';
import { LeftOpen } from './left-open.js';

/**
 * Sees what really happens in the outside world of a run, and whether it may. A violation is noted rather than thrown: what the job would do with
 * an error must not hide it.
 */
export class Watch {
  /** Of the process that runs now. */
  leftOpen: LeftOpen = new LeftOpen();
  readonly #violations: string[] = [];
  #newest: CheckpointId = 0;
  #isFinished = false;
  #lastTriggered: CheckpointId = 0;
  #lastCompleted: CheckpointId = 0;
  /** Why each checkpoint of the process that runs now was taken, until it ends. */
  readonly #underWay = new Map<CheckpointId, CheckpointTrigger>();
  /** The savepoint that it was last to stop with. */
  #stopping: CheckpointId = 0;
  #restores = 0;
  #completed = 0;
  #inFlight = 0;
  #loops = 0;
  #savepoints = 0;
  #stops = 0;

  get violations(): readonly string[] {
    return this.#violations;
  }
  get restores(): number {
    return this.#restores;
  }
  get completed(): number {
    return this.#completed;
  }
  /** Captures that held elements on their way round a loop. */
  get loops(): number {
    return this.#loops;
  }
  get savepoints(): number {
    return this.#savepoints;
  }
  /** Savepoints that a job was stopped with. */
  get stops(): number {
    return this.#stops;
  }
  /** Captures that held in-flight elements. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** A process begins: ids may go on from what is stored. */
  begins(): void {
    this.#lastTriggered = 0;
    this.#underWay.clear();
    this.#stopping = 0;
    this.#lastCompleted = 0;
    this.leftOpen = new LeftOpen();
  }

  sees(event: JobEvent): void {
    switch (event.kind) {
      case 'restored':
        this.#restores++;
        return;
      case 'checkpoint-completed':
        this.#completed++;
        this.#underWay.delete(event.checkpointId);
        if (event.trigger === 'savepoint') this.#savepoints++;
        if (event.trigger === 'stop') this.#stops++;
        // Savepoints are beside the row: an older checkpoint may still complete after one.
        if (event.trigger === 'savepoint') return;
        if (event.checkpointId <= this.#lastCompleted)
          this.violated(
            `checkpoint ${String(event.checkpointId)} completed after checkpoint ${String(this.#lastCompleted)}`,
          );
        this.#lastCompleted = event.checkpointId;
        return;
      case 'checkpoint-aborted':
        this.#underWay.delete(event.checkpointId ?? 0);
        // No fault of the outside makes parts of weir contradict each other.
        if (event.message.includes('PROTOCOL_VIOLATION')) this.violated(event.message);
        return;
      case 'checkpoint-acked':
        this.#acked(event.checkpointId);
        return;
      case 'checkpoint-triggered':
        this.#underWay.set(event.checkpointId, event.trigger);
        if (event.trigger === 'stop') this.#stopping = event.checkpointId;
        if (event.checkpointId <= Math.max(this.#lastTriggered, this.#newest))
          this.violated(
            `checkpoint ${String(event.checkpointId)} was triggered after ${String(Math.max(this.#lastTriggered, this.#newest))}`,
          );
        this.#lastTriggered = event.checkpointId;
        return;
      default:
    }
  }

  /** What nobody needs any more is given up, and hears of no answer. */
  #acked(id: CheckpointId): void {
    const trigger = this.#underWay.get(id);
    if (trigger === 'periodic' && id < this.#stopping)
      this.violated(`the savepoint to stop with, ${String(this.#stopping)}, has waited for checkpoint ${String(id)}`);
    // A savepoint is somebody's, whatever else is complete.
    const isSavepoint = trigger === 'savepoint' || trigger === 'stop';
    if (trigger !== undefined && !isSavepoint && id < this.#lastCompleted)
      this.violated(`checkpoint ${String(id)} is still collected, although ${String(this.#lastCompleted)} is complete`);
  }

  /** `_metadata` becomes visible. Behind a newer one whose answer was lost, or late, an older one may still come. */
  publishes(id: CheckpointId): void {
    if (id <= this.#newest) return;
    this.#newest = id;
    this.#isFinished = false;
  }
  finished(): void {
    this.#isFinished = true;
  }
  deletes({ id, complete }: StoredCheckpoint): void {
    if (complete && id === this.#newest && !this.#isFinished)
      this.violated(`checkpoint ${String(id)}, the newest of a job that has not finished, was deleted`);
  }

  commits(committables: readonly Committable[]): void {
    for (const { identity } of committables) {
      if (identity.checkpointId > this.#newest)
        this.violated(
          `sink ${identity.sink} committed output of checkpoint ${String(identity.checkpointId)} when ${String(this.#newest)} was the newest that is complete`,
        );
    }
  }

  /** The job of a process has ended by itself. */
  ended(pendingActions: number): void {
    if (pendingActions > 0)
      this.violated(`${String(pendingActions)} timers or turns were left behind by a job that had ended`);
    const open = this.leftOpen.describe();
    if (open !== undefined) this.violated(`a job that had ended has left open: ${open}`);
  }

  captured(kinds: ReadonlySet<ChannelStateHandle['kind']>): void {
    if (kinds.has('input') || kinds.has('output')) this.#inFlight++;
    if (kinds.has('loop')) this.#loops++;
  }

  violated(what: string): void {
    this.#violations.push(what);
  }
}
