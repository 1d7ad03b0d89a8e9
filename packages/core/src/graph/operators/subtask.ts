import type { Emit, Sync } from '../../operator/key-context.js';
import type { OpenClose } from '../../operator/keyed-handler.js';
import { subtaskProcessOperator, subtaskStates, type SubtaskContext } from '../../operator/subtask-process.js';
import type { OperatorStates } from '../../state/operator-state-descriptors.js';
import { transform } from '../describe.js';
import type { OperatorOptions, StreamOperator } from '../stream.js';
import type { NameTheOutput } from './keyed.js';

export interface SubtaskProcessSpec<T, O, S extends OperatorStates> extends OperatorOptions, OpenClose {
  /** The property name is the state's name in checkpoints. */
  readonly state?: S;
  onRecord(record: T, context: SubtaskContext<S>, emit: Emit<O>): Sync;
  /** All records were seen and none will ever follow: emit what is held back. */
  onEnd?(context: SubtaskContext<S>, emit: Emit<O>): Sync;
}

// eslint-disable-next-line @typescript-eslint/no-generated-empty-object-type -- an operator that declares no state has none to offer
type NoStates = Record<never, never>;

/**
 * Runs `onRecord` for each record with the state of its subtask, on a stream without key: a buffer, a rule book that every subtask has, what an
 * external system was told (Flink: ProcessFunction with operator state). The output type is read from `emit: Emit<Out>`.
 */
export function subtaskProcess<
  T,
  O = NameTheOutput<'annotate the third parameter of the first handler: emit: Emit<YourType>'>,
  const S extends OperatorStates = NoStates,
>(spec: SubtaskProcessSpec<T, O, S>): StreamOperator<T, O> {
  return (s) =>
    transform(
      [s],
      {
        name: 'subtaskProcess',
        isStateful: Object.keys(spec.state ?? {}).length > 0,
        declares: (uid) => subtaskStates(uid, spec.state ?? {}),
        create: (context) =>
          subtaskProcessOperator<T, S, O>(context, {
            state: spec.state ?? ({} as S),
            self: spec,
            /* eslint-disable @typescript-eslint/unbound-method -- called with `self` */
            onRecord: spec.onRecord,
            onEnd: spec.onEnd,
            /* eslint-enable @typescript-eslint/unbound-method */
            open: spec.open?.bind(spec),
            close: spec.close?.bind(spec),
          }),
      },
      spec,
    );
}
