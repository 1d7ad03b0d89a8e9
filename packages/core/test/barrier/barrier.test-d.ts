import {
  align,
  filterRecords,
  mapRecords,
  overtake,
  track,
  type RecordOf,
  type StreamElement,
} from '@weir/core/barrier';
import type { Observable } from 'rxjs';
import { expectTypeOf, test } from 'vitest';

declare const numbers: Observable<StreamElement<number>>;
declare const plain: Observable<number>;
declare const texts: Observable<StreamElement<string>>;

test('RecordOf is what a channel carries, of several channels the union', () => {
  expectTypeOf<RecordOf<typeof numbers>>().toEqualTypeOf<number>();
  expectTypeOf<RecordOf<typeof numbers | typeof texts>>().toEqualTypeOf<number | string>();
  expectTypeOf<RecordOf<Observable<StreamElement<{ readonly id: 1 }>>>>().toEqualTypeOf<{ readonly id: 1 }>();
});

test('align and track carry the records of all their channels', () => {
  expectTypeOf(align([numbers, texts], { maxBlocked: 1 })).toEqualTypeOf<Observable<StreamElement<number | string>>>();
  expectTypeOf(track([numbers, texts])).toEqualTypeOf<Observable<StreamElement<number | string>>>();
  expectTypeOf(track([numbers])).toEqualTypeOf<Observable<StreamElement<number>>>();
});

test('overtake carries the records of all its channels, and gives them to whoever takes what is in flight', () => {
  const overtaken = overtake([numbers, texts], {
    maxBuffered: 1,
    inFlight: ({ channels }) => {
      expectTypeOf(channels[0]?.[0]?.records).toEqualTypeOf<readonly (number | string)[] | undefined>();
    },
  });
  expectTypeOf(overtaken).toEqualTypeOf<Observable<StreamElement<number | string>>>();
});

test('align needs a bound, and channels of elements', () => {
  // @ts-expect-error there is no default for the bound
  align([numbers]);
  // @ts-expect-error plain records are not elements
  track([plain]);
});

test('record operators infer from the channel before them', () => {
  const mapped = align([numbers, texts], { maxBlocked: 1 }).pipe(
    mapRecords((record) => {
      expectTypeOf(record).toEqualTypeOf<number | string>();
      return String(record);
    }),
  );
  expectTypeOf(mapped).toEqualTypeOf<Observable<StreamElement<string>>>();

  const narrowed = track([numbers, texts]).pipe(filterRecords((record) => typeof record === 'number'));
  expectTypeOf(narrowed).toEqualTypeOf<Observable<StreamElement<number>>>();
  const kept = numbers.pipe(filterRecords((n) => n > 1));
  expectTypeOf(kept).toEqualTypeOf<Observable<StreamElement<number>>>();
});
