import type { RestorePlan } from '../contracts/coordinator.js';
import type { JobEventBody } from '../contracts/job-events.js';
import type { CommitMark, Sink, SinkDestination } from '../contracts/sink.js';
import type { JobName, Lineage, OperatorUid } from '../element/ids.js';
import { WeirError } from '../errors.js';
import { newerOutput } from '../operator/newer-output.js';
import type { OperatorContext } from '../operator/operator.js';
import { destinationOf, type SinkServices } from '../operator/sink-services.js';

/** A sink of the plan, and what it is told before it has writers. */
export interface PlannedSink {
  readonly sink: Sink<unknown>;
  readonly context: OperatorContext;
}
export interface SinkPlacesOptions {
  readonly job: JobName;
  readonly restore: RestorePlan | undefined;
  readonly allowDuplicates: boolean;
  /** A history of its own for an attempt that goes back behind output of the one it had. */
  readonly branch: () => Lineage;
  readonly emit: (event: JobEventBody) => void;
}

/** Where the sinks of an attempt commit their output, held against what the attempt goes on from. */
export class SinkPlaces {
  readonly #options: SinkPlacesOptions;
  readonly #places = new Map<OperatorUid, SinkDestination>();

  constructor(options: SinkPlacesOptions) {
    this.#options = options;
  }

  of(uid: OperatorUid): SinkDestination | undefined {
    return this.#places.get(uid);
  }

  /**
   * Finds out where each sink commits, and says what stays uncommitted in other places. Gives the lineage to go on with: another one where output
   * is repeated and may be; CHECKPOINT_NOT_NEWEST where it may not.
   */
  async open(sinks: readonly PlannedSink[], services: SinkServices): Promise<Lineage> {
    const { restore, branch } = this.#options;
    let isRepeating = false;
    for (const { sink, context } of sinks) {
      const place = await destinationOf(sink, context, services);
      if (place === undefined) continue;
      this.#places.set(context.uid, place);
      if (restore === undefined) continue;
      const newer = newerOutput(place.committed, restore);
      if (newer !== undefined) {
        this.#repeats(context.uid, place, restore, newer);
        isRepeating = true;
      }
      this.#tellElsewhere(context.uid, place, restore);
    }
    // A restore from anything but the newest checkpoint has a lineage of its own already.
    return isRepeating && services.lineage === restore?.lineage ? branch() : services.lineage;
  }

  #repeats(
    uid: OperatorUid,
    { name }: SinkDestination,
    { checkpointId, pointer }: RestorePlan,
    mark: CommitMark,
  ): void {
    const { job, allowDuplicates, emit } = this.#options;
    const what =
      `Sink ${uid} of job ${job} has committed output up to checkpoint ${String(mark.checkpointId)} in ${name}, ` +
      `which lies behind checkpoint ${String(checkpointId)} at ${pointer}`;
    if (allowDuplicates) {
      emit({ kind: 'warning', message: `${what}, where the job goes on from: that output is repeated.` });
      return;
    }
    throw new WeirError(
      'CHECKPOINT_NOT_NEWEST',
      `${what}: going on from there would repeat it, and the sink cannot take it back. If the folder of checkpoints was put back from a backup, ` +
        'put back what it held last; else set allowDuplicates to accept the repetition.',
      { recoverable: false },
    );
  }

  #tellElsewhere(uid: OperatorUid, { id }: SinkDestination, { subtasks, checkpointId }: RestorePlan): void {
    const counts = new Map<string, { readonly name: string; count: number }>();
    for (const part of [...subtasks.values()].flat()) {
      if (part.uid !== uid || part.committables === undefined) continue;
      const { destination, count } = part.committables;
      if (destination.id === id) continue;
      const other = counts.get(destination.id) ?? { name: destination.name, count: 0 };
      counts.set(destination.id, other);
      other.count += count;
    }
    for (const { name, count } of counts.values())
      this.#options.emit({ kind: 'output-left', sink: uid, destination: name, committables: count, checkpointId });
  }
}
