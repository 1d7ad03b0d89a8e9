import type { Serializer } from '../../contracts/serializer.js';
import type { SourceGrade } from '../../contracts/source.js';
import { WeirError } from '../../errors.js';
import { checkedSerializer } from '../../state/checked-serializer.js';
import { defaultSerializer } from '../../state/default-serializer.js';
import { looped, type LoopBody } from '../describe.js';
import type { FeedbackBounds } from '../stream-node.js';
import type { OperatorOptions, Stream } from '../stream.js';

export interface IterateOptions<T> extends OperatorOptions {
  /** Of the records that go round, for checkpoints and for what is spilled to disk. Default: weir's own. */
  readonly serializer?: Serializer<T> | undefined;
  /** Records that wait in memory at each subtask of the loop's head; what comes beyond goes to a temporary file. Default 65,536. */
  readonly maxBufferedRecords?: number | undefined;
  /** Bytes of waiting records on disk, for each subtask of the loop's head; beyond it the job fails with FEEDBACK_OVERFLOW. Default 1 GiB. */
  readonly maxFeedbackBytes?: number | undefined;
}

/**
 * A loop: `body` is called once, with a stream of the input and of all that comes back, and says which records go round again and which leave
 * (Flink: DataStream.iterate and closeWith in one). Records are fed back to a head operator that drops the key: put keyBy inside of the body.
 *
 * Exactly-once holds over the loop: a checkpoint logs what was going round when it was taken ("Lightweight Asynchronous Snapshots for
 * Distributed Dataflows", arXiv 1506.08603, algorithm 2). A finite job ends when its input has ended and nothing goes round any more.
 */
export function iterate<T, O>(
  body: (input: Stream<T>) => LoopBody<T, O>,
  options: IterateOptions<T> = {},
): <G extends SourceGrade>(s: Stream<T, G>) => Stream<O, G> {
  const serializer: Serializer = checkedSerializer(options.serializer ?? defaultSerializer, 'a loop');
  const bounds: FeedbackBounds = {
    records: checkedBound('maxBufferedRecords', options.maxBufferedRecords, 65_536),
    bytes: checkedBound('maxFeedbackBytes', options.maxFeedbackBytes, 1024 ** 3),
  };
  return (s) =>
    looped(
      s,
      { name: 'iterate', isStateful: true, create: () => ({ connect: (source) => source }) },
      { serializer, bounds },
      options,
      body as (input: Stream<never>) => LoopBody<T, O>,
    );
}

function checkedBound(name: string, value: number | undefined, otherwise: number): number {
  const bound = value ?? otherwise;
  if (typeof bound === 'number' && bound >= 1) return bound;
  throw new WeirError('CONFIG_INVALID', `iterate: ${name} must be a number of at least 1, but is ${String(bound)}.`, {
    recoverable: false,
  });
}
