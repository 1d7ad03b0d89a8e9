import type { CallBounds } from '../bounds/bounded-calls.js';
import { boundedSource } from '../bounds/bounded-source.js';
import type { Clock } from '../contracts/clock.js';
import type { RestorePlan } from '../contracts/coordinator.js';
import type { BlobHandle } from '../contracts/snapshot.js';
import { grouped } from '../element/grouped.js';
import { subtaskName, type OperatorUid, type SubtaskId } from '../element/ids.js';
import type { PlannedOperator, PlannedStage } from '../graph/plan.js';
import type { Operator, OperatorContext, OperatorSpec, RestoredState } from '../operator/operator.js';
import { SourceOperator } from '../operator/source-operator.js';
import { operatorFailure } from '../operator/user-code.js';
import { restoredState } from '../snapshot/restored-state.js';
import type { OperatorOwner } from '../stage/operator-context.js';
import { segmentOf } from '../stage/segments.js';
import type { StageOperator } from '../stage/stage.js';
import { defaultSerializer } from '../state/default-serializer.js';
import { loopNodeOf } from './attempt-loops.js';
import type { AttemptSinks } from './attempt-sinks.js';
import type { DeployedSubtask } from './deploy.js';
import type { LocalCopies } from './local-copies.js';
import type { Pauses } from './pauses.js';
import { refuseUnreadState } from './refuse-unread-state.js';
import { restoreInFlight } from './restore-in-flight.js';
import { restoreLoop } from './restore-loop.js';
import type { Sources } from './sources.js';

export interface OpenSubtaskOptions {
  readonly restore: RestorePlan | undefined;
  readonly checkpointing: boolean;
  /** Every call to a source goes through it. */
  readonly calls: CallBounds;
  readonly clock: Clock;
}

/** Parts of an attempt that a subtask is opened with. */
export interface OpeningParts {
  readonly sources: Sources;
  readonly sinks: AttemptSinks;
  readonly pauses: Pauses;
  /** Aborts with the attempt. */
  readonly signal: AbortSignal;
  /** Where keyed state is restored from, if there is anything but the storage. */
  readonly reading: ReturnType<LocalCopies['reading']> | undefined;
  readonly contextOf: (
    stage: PlannedStage,
    operator: PlannedOperator,
    subtask: number,
    owner: OperatorOwner,
  ) => OperatorContext;
}

/** Restores and opens subtasks, or commits what is left of those that have finished. */
export class SubtaskOpener {
  readonly #options: OpenSubtaskOptions;
  readonly #parts: OpeningParts;

  constructor(options: OpenSubtaskOptions, parts: OpeningParts) {
    this.#options = options;
    this.#parts = parts;
  }

  /** Restores everything that the subtask had, and opens its operators. */
  async open(deployed: DeployedSubtask): Promise<void> {
    const { pauses, signal } = this.#parts;
    const { subtask, stage } = deployed;
    signal.throwIfAborted();
    let source: SourceOperator<unknown> | undefined;
    const planned = new Map(stage.operators.map((operator) => [operator.uid, operator]));
    const restored = this.#restored(subtask.id);
    const operators: StageOperator[] = [];
    for (const [place, operator] of stage.operators.entries()) {
      const pausing = pauses.due();
      if (pausing !== undefined) await pausing;
      // What is closed by now would never close what is made from here on.
      signal.throwIfAborted();
      const created = this.#operator(operator, this.#contextIn(deployed, operator, place));
      if (created instanceof SourceOperator) source = created;
      operators.push({ uid: operator.uid, operator: created });
    }
    const stateOf = (uid: OperatorUid): RestoredState | undefined => {
      const state = restored(uid);
      const operator = planned.get(uid);
      if (state !== undefined && operator !== undefined) refuseUnreadState(operator, state, this.#options.clock);
      return state;
    };
    await subtask.open(operators, source, stateOf, pauses.due);
    await this.#restoreChannels(deployed);
  }

  /** Commits what a subtask that has finished had prepared; nothing else of it is opened. */
  async commitRest(deployed: DeployedSubtask): Promise<void> {
    const { sinks, signal } = this.#parts;
    signal.throwIfAborted();
    const { subtask, stage } = deployed;
    const restored = this.#restored(subtask.id);
    for (const planned of stage.operators) {
      if (planned.node.kind !== 'sink') continue;
      const state = restored(planned.uid);
      if (state === undefined) continue;
      await sinks.operator(planned.node.sink, this.#contextIn(deployed, planned, 0)).commitRestored(state);
    }
  }

  /** Puts records that were in flight, or went round a loop, in front of anything else. */
  async #restoreChannels({ subtask, stage, inputs, feedback }: DeployedSubtask): Promise<void> {
    const { restore } = this.#options;
    if (restore === undefined) return;
    const handles = (restore.subtasks.get(subtaskName(subtask.id)) ?? []).flatMap(({ channels = [] }) => channels);
    const { parallelism, maxParallelism } = stage;
    const taker = { subtask: subtask.id.index, parallelism, maxParallelism };
    const read = (blob: BlobHandle): Promise<Uint8Array> => restore.read(blob);
    await restoreInFlight({ ...taker, inputs, handles: handles.filter(({ kind }) => kind !== 'loop'), read });
    const { serializer = defaultSerializer } = loopNodeOf(stage.operators[0] as PlannedOperator) ?? {};
    const logs = handles.filter(({ kind }) => kind === 'loop');
    subtask.replay(await restoreLoop({ ...taker, feedback, serializer, handles: logs, read }));
  }

  #contextIn({ subtask, stage, stores }: DeployedSubtask, operator: PlannedOperator, place: number): OperatorContext {
    const running = subtask.stage;
    const flow = running.flow.inSegment(segmentOf(place));
    return this.#parts.contextOf(stage, operator, subtask.id.index, { running, stores, flow });
  }

  #operator({ node, uid }: PlannedOperator, context: OperatorContext): Operator {
    const { calls, checkpointing } = this.#options;
    const { sources, sinks } = this.#parts;
    switch (node.kind) {
      case 'source':
        return new SourceOperator({
          source: boundedSource(node.source, uid, calls),
          context,
          splits: sources.client(uid, context.subtask),
          checkpointing,
        });
      case 'operator':
        return createOperator(node.spec, context);
      case 'sink':
        return sinks.operator(node.sink, context);
    }
  }

  /** State that each operator of the subtask restores. */
  #restored(subtask: SubtaskId): (uid: OperatorUid) => RestoredState | undefined {
    const { restore } = this.#options;
    const { signal, reading } = this.#parts;
    const byOperator = grouped(restore?.subtasks.get(subtaskName(subtask)) ?? [], ({ uid }) => uid);
    return (uid) => {
      // Asked before each operator is opened: in an attempt that has failed, none is opened any more.
      signal.throwIfAborted();
      const parts = byOperator.get(uid);
      if (restore === undefined || parts === undefined) return undefined;
      return restoredState(restore.checkpointId, uid, parts, restore, reading?.from);
    };
  }
}

function createOperator(spec: OperatorSpec, context: OperatorContext): Operator {
  try {
    return spec.create(context);
  } catch (error) {
    throw operatorFailure(context, error);
  }
}
