import type { Sink, Source } from '@weir/core/contracts';
import { expectTypeOf, test } from 'vitest';
import { collected, collection, crash } from '../../src/collection/index.js';
import { datagen } from '../../src/datagen/index.js';
import {
  csv,
  fileSink,
  fileSource,
  jsonLines,
  parquet,
  textLines,
  type FilePosition,
  type FileSplit,
} from '../../src/file/index.js';
import { print } from '../../src/print/index.js';

interface Flight {
  readonly origin: string;
  readonly delay: number;
}

test('the columns of CSV are the properties of its records', () => {
  const source = fileSource({ path: 'in.csv', format: csv({ columns: ['origin', 'delay'], header: true }) });
  expectTypeOf(source).toEqualTypeOf<
    Source<{ readonly origin: string; readonly delay: string }, 'replayable', FileSplit, FilePosition>
  >();
  const all = fileSource({ path: 'in.csv', format: csv({ header: true }) });
  expectTypeOf(all).toExtend<Source<Readonly<Record<string, string>>>>();
});

test('the columns of CSV have to be in what is written', () => {
  const sink = fileSink({ dir: 'out', format: csv({ columns: ['origin', 'delay'] }) });
  expectTypeOf(sink).toExtend<Sink<Flight, 'exactly-once'>>();
  expectTypeOf(sink).not.toExtend<Sink<{ readonly origin: string }>>();
  expectTypeOf(fileSink({ dir: 'out', format: csv({ header: true }) })).toExtend<Sink<Flight>>();
});

test('other formats have the records that the caller names', () => {
  expectTypeOf(fileSource({ path: 'in', format: textLines() })).toExtend<Source<string, 'replayable'>>();
  expectTypeOf(fileSource({ path: 'in', format: jsonLines<Flight>() })).toExtend<Source<Flight, 'replayable'>>();
  expectTypeOf(fileSource({ path: 'in', format: jsonLines() })).toEqualTypeOf<
    Source<unknown, 'replayable', FileSplit, FilePosition>
  >();
  const rows = fileSource({ path: 'in', format: parquet<Flight>({ columns: ['delay', 'origin'] }) });
  expectTypeOf(rows).toExtend<Source<Flight, 'replayable'>>();
  // @ts-expect-error there is no such column
  parquet<Flight>({ columns: ['origins'] });
  expectTypeOf(fileSink({ dir: 'out', format: jsonLines() })).toExtend<Sink<Flight, 'exactly-once'>>();
  expectTypeOf(fileSink({ dir: 'out', format: textLines() })).not.toExtend<Sink<Flight>>();
  // @ts-expect-error Parquet is read only
  fileSink({ dir: 'out', format: parquet() });
});

test('grades are types', () => {
  expectTypeOf(collection([1, crash(), 2])).toExtend<Source<number, 'replayable'>>();
  expectTypeOf(collected<number>().sink).toExtend<Sink<number, 'exactly-once'>>();
  expectTypeOf(datagen()).toExtend<Source<number, 'replayable'>>();
  expectTypeOf(datagen({ map: String })).toExtend<Source<string, 'replayable'>>();
  expectTypeOf(print()).toExtend<Sink<Flight, 'at-least-once'>>();
  expectTypeOf(print()).not.toExtend<Sink<Flight, 'exactly-once'>>();
});
