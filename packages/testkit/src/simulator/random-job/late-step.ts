import { sleep } from '@weir/core/contracts';
import { perBatch, transform, type Operator, type OperatorContext } from '@weir/core/operators';
import type { Item } from './item.js';
import type { Items } from './keyed-steps.js';

export interface LateOptions {
  readonly uid: string;
  readonly parallelism: number | undefined;
  /** That the second subtask takes for each batch, a third one twice as long; the first takes none. All take as long to finish. */
  readonly ms: number;
}

/** Subtasks of different slowness: behind an exchange some barriers of a checkpoint come early and others late. */
export function late(input: Items, { uid, parallelism, ms }: LateOptions): Items {
  const create = (context: OperatorContext): Operator<Item, Item> => {
    const { clock, flow, signal, subtask } = context;
    return {
      connect: (source) =>
        source.pipe(
          perBatch(context, (batch, target) => {
            if (subtask > 0) flow.waitFor(sleep(clock, subtask * ms, signal));
            target.next(batch);
          }),
        ),
      finish: () => sleep(clock, ms, signal),
    };
  };
  const spec = { name: 'late', isStateful: false, create };
  return transform<Item, 'replayable'>([input], spec, { uid, parallelism });
}
