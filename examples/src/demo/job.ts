import { csv, fileSink } from '@weir/connectors/file';
import type { Environment } from '@weir/core';
import { keyBy, keyedProcess, map, valueState, type Emit } from '@weir/core/operators';
import { flights, type Flight } from './flights.js';

/** How many flights have left an airport so far, and their delay in all: one line per flight, so that each can be counted. */
export interface Departures {
  readonly origin: string;
  readonly flights: number;
  readonly delay: number;
}

export interface DemoJobOptions {
  readonly count: number;
  /** Where the output goes. */
  readonly out: string;
  readonly onRead: (rows: number) => void;
  /** Called for each flight; may throw. */
  readonly look: (flight: Flight) => void;
}

/** How often the photographer comes, where there is one. */
export const CHECKPOINT_EVERY = '30ms';

/** The job that all chapters run. */
export function describeJob(env: Environment, { count, out, onRead, look }: DemoJobOptions): void {
  env
    .from(flights(count, onRead), { uid: 'flights' })
    .pipe(
      map((flight) => {
        look(flight);
        return flight;
      }),
      keyBy(({ origin }) => origin),
      keyedProcess({
        uid: 'departures',
        state: { flights: valueState({ initial: () => 0 }), delay: valueState({ initial: () => 0 }) },
        onRecord(flight, { key, state }, emit: Emit<Departures>) {
          state.flights.update(state.flights.value() + 1);
          state.delay.update(state.delay.value() + flight.delay);
          emit({ origin: key, flights: state.flights.value(), delay: state.delay.value() });
        },
      }),
    )
    .to(
      fileSink({
        dir: out,
        format: csv({ columns: ['origin', 'flights', 'delay'] }),
        rolling: { maxBytes: 2 ** 20 },
        overwrite: true,
      }),
      { uid: 'departures-file' },
    );
}
