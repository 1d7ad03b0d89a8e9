import type { OperatorFunction } from 'rxjs';
import type { StreamElement } from '../element/element.js';
import type { Key } from '../element/key.js';
import type { KeyedState } from './keyed-state.js';
import type { OperatorContext } from './operator.js';
import { perBatch } from './per-batch.js';

/** Lets the state backend look up a whole batch of keys before the first of them is used. Passes every batch on as it is. */
export function lookAhead<T>(
  context: OperatorContext,
  keyed: KeyedState,
  keyOf: (record: T) => Key,
): OperatorFunction<StreamElement<T>, StreamElement<T>> {
  return perBatch<T, T>(context, (batch, target) => {
    if (keyed.hasStates) keyed.store.lookAhead?.(batch.records, keyOf);
    target.next(batch);
  });
}
