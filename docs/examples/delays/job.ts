// Describes only. Importing it starts nothing.
import { csv, fileSink, fileSource, jsonLines } from '@weir/connectors/file';
import type { Environment } from '@weir/core';
import { filter, keyBy, keyedProcess, map, valueState, type Emit } from '@weir/core/operators';

export interface Total {
  readonly origin: string;
  readonly minutes: number;
}

const flights = csv({ header: true, columns: ['origin', 'delay'] });

export const job = (env: Environment): void => {
  env
    .from(fileSource({ path: 'flights.csv', format: flights }), { uid: 'flights' })
    .pipe(
      map(({ origin, delay }) => ({ origin, delay: Number(delay) })),
      filter(({ delay }) => delay > 0),
      keyBy(({ origin }) => origin),
      keyedProcess({
        uid: 'delay-by-origin',
        state: { total: valueState({ initial: () => 0 }) },
        onRecord({ delay }, { key, state: { total } }, emit: Emit<Total>) {
          total.update(total.value() + delay);
          emit({ origin: key, minutes: total.value() });
        },
      }),
    )
    .to(fileSink({ dir: './out', format: jsonLines() }), { uid: 'out', guarantee: 'exactly-once' });
};
