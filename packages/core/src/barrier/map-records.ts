import type { OperatorFunction } from 'rxjs';
import { filter, map } from 'rxjs';
import type { StreamElement } from '../element/element.js';
import { isWorthSending } from './empty-batch.js';

/** Projects every record, keeps timestamps, and passes on everything else as it is. Empty batches are not emitted. */
export function mapRecords<A, B>(project: (value: A) => B): OperatorFunction<StreamElement<A>, StreamElement<B>> {
  return (source) =>
    source.pipe(
      map((element) => mapElement(element, project)),
      filter((element) => isWorthSending(element)),
    );
}

function mapElement<A, B>(element: StreamElement<A>, project: (value: A) => B): StreamElement<B> {
  if (element.kind !== 'batch') return element;
  const { records, timestamps } = element;
  const projected = new Array<B>(records.length);
  for (let i = 0; i < records.length; i++) projected[i] = project(records[i] as A);
  return { kind: 'batch', records: projected, timestamps };
}
