import { allClosed } from '../contracts/all-of.js';
import type { EnumeratorSnapshot } from '../contracts/snapshot.js';
import type { Source, SourceContext, SplitEnumerator } from '../contracts/source.js';
import type { CheckpointId, OperatorUid } from '../element/ids.js';
import { WeirError } from '../errors.js';
import type { OperatorContext } from '../operator/operator.js';
import { checkedEnumerator, checkedSnapshot } from '../operator/source-answers.js';
import { sourceContext, sourceFailure } from '../operator/source-context.js';
import type { SplitClient } from '../operator/split-client.js';
import { decodeValues, encodeValues } from '../snapshot/stored-values.js';
import { defaultSerializer } from '../state/default-serializer.js';
import { withErrorContext } from '../state/with-error-context.js';
import { SplitAssignment } from './split-assignment.js';

interface OpenSource {
  readonly source: Source<unknown>;
  readonly context: SourceContext;
  readonly enumerator: SplitEnumerator;
  readonly assignment: SplitAssignment;
}

/** The split enumerators of an attempt, and which barriers have reached which readers. */
export class Sources {
  readonly #open = new Map<OperatorUid, OpenSource>();
  /** Per checkpoint whose barriers have left, and source: subtasks that have not injected the barrier yet. */
  readonly #missing = new Map<CheckpointId, Map<OperatorUid, number>>();

  async start(
    source: Source<unknown>,
    operator: OperatorContext,
    restored: EnumeratorSnapshot | undefined,
  ): Promise<void> {
    const context = sourceContext(operator);
    const { uid } = context;
    try {
      const enumerator = checkedEnumerator(context, source.enumerator(context));
      this.#open.set(uid, { source, context, enumerator, assignment: new SplitAssignment(context, enumerator) });
      await enumerator.start(restored === undefined ? undefined : stateOf(restored, source));
    } catch (error) {
      throw sourceFailure(context, undefined, error);
    }
  }

  client(uid: OperatorUid, subtask: number): SplitClient {
    const open = this.#open.get(uid);
    if (open === undefined) throw new WeirError('PROTOCOL_VIOLATION', `Source ${uid} has no enumerator.`);
    return open.assignment.client(subtask);
  }

  snapshot(checkpointId: CheckpointId): EnumeratorSnapshot[] {
    return [...this.#open].map(([uid, { source, context, enumerator, assignment }]) => {
      assignment.hold(checkpointId);
      const named = withErrorContext(source.serializer ?? defaultSerializer, uid, 'enumerator');
      const { serializer, bytes } = encodeValues([snapshotOf(context, enumerator)], named);
      return { uid, serializer, bytes };
    });
  }

  /** Barriers are on their way to so many readers of each source: those that have not finished. */
  triggered(checkpointId: CheckpointId, readers: (uid: OperatorUid) => number): void {
    const missing = new Map([...this.#open.keys()].map((uid) => [uid, readers(uid)]));
    this.#missing.set(checkpointId, missing);
    for (const [uid, { assignment }] of this.#open) if (missing.get(uid) === 0) assignment.release(checkpointId);
  }

  /** One reader has sent the barrier on. */
  injected(uid: OperatorUid, checkpointId: CheckpointId): void {
    const missing = this.#missing.get(checkpointId);
    const rest = (missing?.get(uid) ?? 0) - 1;
    missing?.set(uid, rest);
    if (rest <= 0) this.#open.get(uid)?.assignment.release(checkpointId);
  }

  /** The checkpoint is over, one way or the other. */
  release(checkpointId: CheckpointId): void {
    this.#missing.delete(checkpointId);
    for (const { assignment } of this.#open.values()) assignment.release(checkpointId);
  }

  /** Closes every enumerator, whatever the others do; every error is told in the end. */
  async close(): Promise<void> {
    const closed = [...this.#open.values()].map(async ({ enumerator }) => enumerator.close());
    await allClosed(closed);
  }
}

function snapshotOf(context: SourceContext, enumerator: SplitEnumerator): unknown {
  try {
    return checkedSnapshot(context, enumerator.snapshot());
  } catch (error) {
    throw sourceFailure(context, undefined, error);
  }
}

function stateOf({ uid, serializer, bytes }: EnumeratorSnapshot, source: Source<unknown>): unknown {
  return decodeValues(
    { serializer, bytes, count: 1 },
    source.serializer ?? defaultSerializer,
    `split enumerator of source '${uid}'`,
  )[0];
}
