import type { OperatorFunction } from 'rxjs';
import { filter, map } from 'rxjs';
import { mapBatch } from '../element/batch-loops.js';
import type { StreamElement } from '../element/element.js';
import { isWorthSending } from './empty-batch.js';

/** Projects every record, keeps timestamps, and passes on everything else as it is. Empty batches are not emitted. */
export function mapRecords<A, B>(project: (value: A) => B): OperatorFunction<StreamElement<A>, StreamElement<B>> {
  return (source) =>
    source.pipe(
      map((element) => (element.kind === 'batch' ? mapBatch(element, project) : element)),
      filter((element) => isWorthSending(element)),
    );
}
