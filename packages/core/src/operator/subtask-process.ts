import { WeirError } from '../errors.js';
import {
  operatorStateDeclarations,
  type DeclaredOperatorState,
  type OpenOperatorState,
  type OperatorHandles,
  type OperatorStates,
} from '../state/operator-state-descriptors.js';
import type { BatchBuffer } from './batch-buffer.js';
import { refuseLate, refusePromise } from './handler-misuse.js';
import type { Emit, Sync } from './key-context.js';
import type { OpenClose } from './keyed-handler.js';
import type { Operator, OperatorContext, RestoredState } from './operator.js';
import { inLoops, type RecordLoop } from './per-batch.js';

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

/** Calls `onRecord` for every record with the state of the subtask (Flink: ProcessFunction with CheckpointedFunction). */
export function subtaskProcessOperator<T, S extends OperatorStates, O>(
  context: OperatorContext,
  definition: SubtaskProcessDefinition<T, S, O>,
): Operator<T, O> {
  const { self } = definition;
  const declared = operatorStateDeclarations(context.uid, definition.state);
  let states = new Map<string, OpenOperatorState>(declared.map(({ name, open }) => [name, open([])]));
  const current: { -readonly [N in keyof SubtaskContext<S>]: SubtaskContext<S>[N] } = {
    subtask: context.subtask,
    parallelism: context.parallelism,
    state: handlesOf<S>(states),
    timestamp: undefined,
  };
  let output: BatchBuffer<O> | undefined;
  let isInHandler = false;
  const emit = (value: O): void => {
    if (isInHandler) output?.pushAt(value, current.timestamp);
    else refuseLate(context, 'emit');
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
      requireDeclared(context, declared, restored);
      states = new Map();
      for (const { name, serializer, open } of declared)
        states.set(name, open(await restored.operatorState(name, serializer)));
      current.state = handlesOf<S>(states);
    },
    open: () => definition.open?.(context),
    finish() {
      current.timestamp = undefined;
      calling(() => {
        const returned: unknown = definition.onEnd?.call(self, current, emit);
        if (returned !== undefined) refusePromise(context, returned);
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

function handlesOf<S extends OperatorStates>(states: ReadonlyMap<string, OpenOperatorState>): OperatorHandles<S> {
  // Each is what its descriptor in S made.
  return Object.fromEntries([...states].map(([name, { handle }]) => [name, handle])) as OperatorHandles<S>;
}

/** What is stored must be declared, and be dealt out in the same way: nothing is dropped without a word. */
function requireDeclared(
  { uid }: OperatorContext,
  declared: readonly DeclaredOperatorState[],
  { checkpointId, operatorStates }: RestoredState,
): void {
  for (const [name, mode] of operatorStates) {
    const found = declared.find((state) => state.name === name);
    if (found?.mode === mode) continue;
    const where = `operator '${uid}' in chk-${String(checkpointId)}`;
    throw new WeirError(
      'CHECKPOINT_INCOMPATIBLE',
      found === undefined
        ? `The checkpoint holds state '${name}' of ${where}, which the operator does not declare any more. Declare it again to restore it.`
        : `State '${name}' of ${where} was stored as ${mode} state and is declared as ${found.mode} state. Give the new one another name.`,
      { recoverable: false },
    );
  }
}
