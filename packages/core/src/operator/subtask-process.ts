import type { OperatorUid } from '../element/ids.js';
import { droppedNames } from '../state/dropped.js';
import {
  operatorStateDeclarations,
  type DeclaredOperatorState,
  type OpenOperatorState,
  type OperatorHandles,
  type OperatorStates,
} from '../state/operator-state-descriptors.js';
import type { Declared } from '../state/state-match.js';
import { BATCH_SIZE } from '../element/element.js';
import type { BatchBuffer } from './batch-buffer.js';
import { refuseLate, refusePromise } from './handler-misuse.js';
import type { Emit, Sync } from './key-context.js';
import type { OpenClose } from './keyed-handler.js';
import { heldOperatorHandle } from './held-handles.js';
import { HeldReferences } from './held-references.js';
import type { Operator, OperatorContext } from './operator.js';
import { inLoops, type RecordLoop } from './per-batch.js';
import { storedNames } from './stored-names.js';

/** What a handler works with. The same object for every record. */
export interface SubtaskContext<out S extends OperatorStates> {
  readonly subtask: number;
  readonly parallelism: number;
  readonly state: OperatorHandles<S>;
  /** Event time of the record, epoch ms. */
  readonly timestamp: number | undefined;
}
export interface SubtaskProcessDefinition<T, S extends OperatorStates, O> extends OpenClose {
  readonly state: S;
  /** The `this` of the handlers. */
  readonly self?: unknown;
  readonly onRecord: (record: T, context: SubtaskContext<S>, emit: Emit<O>) => Sync;
  readonly onEnd?: ((context: SubtaskContext<S>, emit: Emit<O>) => Sync) | undefined;
}

/** Everything that such an operator keeps in checkpoints. */
export function subtaskStates(
  uid: OperatorUid,
  states: OperatorStates,
): { readonly operator: Declared<DeclaredOperatorState>; readonly keyed: Declared<never> } {
  const dropped = droppedNames(states);
  return { operator: { states: operatorStateDeclarations(uid, states), dropped }, keyed: { states: [], dropped } };
}

/** Calls `onRecord` for every record with the state of the subtask (Flink: ProcessFunction with CheckpointedFunction). */
export function subtaskProcessOperator<T, S extends OperatorStates, O>(
  context: OperatorContext,
  definition: SubtaskProcessDefinition<T, S, O>,
): Operator<T, O> {
  const { self } = definition;
  const { operator, keyed } = subtaskStates(context.uid, definition.state);
  const declared = operator.states;
  for (const { schema } of declared) schema?.compile(context.compileSchema);
  const held = new HeldReferences();
  let states = new Map<string, OpenOperatorState>(declared.map(({ name, open }) => [name, open([])]));
  const current: { -readonly [N in keyof SubtaskContext<S>]: SubtaskContext<S>[N] } = {
    subtask: context.subtask,
    parallelism: context.parallelism,
    state: handlesOf<S>(declared, states, held),
    timestamp: undefined,
  };
  let output: BatchBuffer<O> | undefined;
  let isInHandler = false;
  // Of this call: where its first object is among what was emitted.
  let firstObject = -1;
  const settle = (): void => {
    if (firstObject >= 0 && output !== undefined) held.settle(output, firstObject);
    firstObject = -1;
    if (held.hasNotes) held.forget();
  };
  const emit = (value: O): void => {
    if (!isInHandler) refuseLate(context, 'emit');
    else if (output !== undefined) {
      if (firstObject < 0 && typeof value === 'object') firstObject = output.count;
      output.addAt(value, current.timestamp);
      if (output.count >= BATCH_SIZE) firstObject = held.makeRoom(output, firstObject);
    }
  };
  const calling = (work: () => void): void => {
    isInHandler = true;
    try {
      work();
    } finally {
      isInHandler = false;
    }
  };
  const loop: RecordLoop<T> = ({ records, timestamps }, from, to) => {
    let next = from;
    calling(() => {
      const sent = output?.sent;
      while (next < to && output?.sent === sent) {
        current.timestamp = timestamps === undefined ? undefined : timestamps[next];
        const returned: unknown = definition.onRecord.call(self, records[next] as T, current, emit);
        if (returned !== undefined) refusePromise(context, returned);
        settle();
        next++;
      }
    });
    return next;
  };
  return {
    hasUnionState: declared.some(({ mode }) => mode === 'union'),
    connect: (source) =>
      source.pipe(
        inLoops<T, O>(context, (buffer) => {
          output = buffer;
          return loop;
        }),
      ),
    async restore(restored) {
      restored.baseFor(keyed);
      const stored = storedNames(context, operator, restored);
      states = new Map();
      for (const state of declared) {
        const name = stored.get(state) ?? state.name;
        states.set(state.name, state.open(await restored.operatorState(name, state.serializer)));
      }
      current.state = handlesOf<S>(declared, states, held);
    },
    open: () => definition.open?.(context),
    finish() {
      current.timestamp = undefined;
      calling(() => {
        const returned: unknown = definition.onEnd?.call(self, current, emit);
        if (returned !== undefined) refusePromise(context, returned);
        settle();
      });
      output?.flush();
    },
    capture: () => ({
      operatorState: declared.map(({ name, mode, serializer }) => ({
        name,
        mode,
        serializer,
        values: states.get(name)?.values() ?? [],
      })),
    }),
    close: () => definition.close?.(),
  };
}

function handlesOf<S extends OperatorStates>(
  declared: readonly DeclaredOperatorState[],
  states: ReadonlyMap<string, OpenOperatorState>,
  references: HeldReferences,
): OperatorHandles<S> {
  const handles = declared.map(({ name, valueSerializer }) => {
    // It was opened under its name.
    const state = states.get(name) as OpenOperatorState;
    return [name, heldOperatorHandle(state, references, valueSerializer)];
  });
  // Each is over what its descriptor in S made.
  return Object.fromEntries(handles) as OperatorHandles<S>;
}
