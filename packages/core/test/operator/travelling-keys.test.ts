import { fc, test as property } from '@fast-check/vitest';
import { from as fromIterable, map as rxMap, mergeMap, Subject } from 'rxjs';
import { describe, expect } from 'vitest';
import type { RecordBatch, StreamElement } from '../../src/element/element.js';
import { flatMapOperator } from '../../src/operator/flat-map.js';
import { keyedProcessOperator } from '../../src/operator/keyed-process.js';
import type { Emit } from '../../src/operator/key-context.js';
import type { Operator } from '../../src/operator/operator.js';
import { rxOperator } from '../../src/operator/rx.js';
import { filterOperator, mapOperator, tapOperator } from '../../src/operator/stateless.js';
import { timestampsOperator } from '../../src/operator/timestamps.js';
import { operatorContext } from '../support/operator-context.js';

/** Knows where it comes from, so that the test can say what its key has to be. */
interface Traced {
  readonly origin: number;
  readonly value: number;
}
const keyOf = (origin: number): string => `key ${String(origin % 7)}`;

const context = operatorContext({ uid: 'step' });
const moved = ({ origin, value }: Traced, by: number): Traced => ({ origin, value: value + by });

const STEPS: Readonly<Record<string, () => Operator<Traced, Traced>>> = {
  map: () => mapOperator(context, (traced) => moved(traced, 1)),
  filter: () => filterOperator(context, ({ value }) => value % 3 !== 0),
  'filter that keeps all': () => filterOperator(context, () => true),
  tap: () => tapOperator(context, () => undefined),
  flatMap: () =>
    flatMapOperator(context, (traced) => Array.from({ length: traced.value % 3 }, (_, i) => moved(traced, i)), true),
  rx: () =>
    rxOperator<Traced, Traced>(
      context,
      (record) =>
        record.pipe(
          mergeMap((traced) => fromIterable([traced, moved(traced, 2)])),
          rxMap((traced) => moved(traced, 1)),
        ),
      true,
    ),
  withTimestamps: () =>
    timestampsOperator(context, {
      timestampOf: ({ value }) => value,
      maxOutOfOrdernessMs: 1000,
      idleAfterMs: undefined,
      watermarkIntervalMs: 0,
    }),
  keyedProcess: () =>
    keyedProcessOperator(context, {
      keyOf: undefined,
      keepsKeys: true,
      state: {},
      onRecord(traced: Traced, { key }: { readonly key: string }, emit: Emit<Traced>) {
        expect(key).toBe(keyOf(traced.origin));
        for (let i = 0; i < traced.value % 3; i++) emit(moved(traced, i));
      },
    }),
};

describe('keys travel with records', () => {
  property.prop([
    fc.array(fc.constantFrom(...Object.keys(STEPS)), { minLength: 1, maxLength: 6 }),
    fc.array(fc.array(fc.nat(50), { minLength: 1, maxLength: 30 }), { maxLength: 8 }),
  ])('through any operators that make records of records', (names, batches) => {
    const head = new Subject<StreamElement<Traced>>();
    const out: RecordBatch<Traced>[] = [];
    names
      .map((name) => (STEPS[name] as () => Operator<Traced, Traced>)())
      .reduce((stream, operator) => operator.connect(stream), head.asObservable())
      .subscribe((element) => {
        if (element.kind === 'batch') out.push(element);
      });
    for (const origins of batches) {
      const records = origins.map((origin): Traced => ({ origin, value: origin }));
      head.next({ kind: 'batch', records, keys: origins.map(keyOf) });
    }
    for (const { records, keys } of out) expect(keys).toEqual(records.map(({ origin }) => keyOf(origin)));
  });
});
