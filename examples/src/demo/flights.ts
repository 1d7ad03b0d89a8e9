import { fileURLToPath } from 'node:url';
import { fileSource, parquet, type FilePosition, type FileSplit } from '@weir/connectors/file';
import type { Source } from '@weir/core/contracts';

/** 3,000,000 flights within the United States, as the npm package vega-datasets carries them. */
export const FLIGHTS_FILE = fileURLToPath(new URL('../data/flights-3m.parquet', import.meta.resolve('vega-datasets')));

interface Row {
  readonly origin: string;
  readonly delay: number;
}
export interface Flight extends Row {
  /** Row in the file. */
  readonly index: number;
}

/** The first `count` flights of the file, numbered. `onRead` hears how far reading has come. */
export function flights(
  count: number,
  onRead: (rows: number) => void,
): Source<Flight, 'replayable', FileSplit, FilePosition> {
  const rows = fileSource({
    path: FLIGHTS_FILE,
    format: parquet<Row>({ columns: ['origin', 'delay'], int64: 'number' }),
  });
  return {
    ...rows,
    async open(split, position, context) {
      const reader = await rows.open(split, position, context);
      const row = (): number => {
        const at = reader.position();
        return at.kind === 'row' ? at.row : 0;
      };
      const numbered = (batch: readonly Row[], from: number): readonly Flight[] => {
        onRead(from + batch.length);
        return batch.map(({ origin, delay }, i) => ({ index: from + i, origin, delay }));
      };
      return {
        poll(max) {
          const from = row();
          if (from >= count) return 'end';
          const batch = reader.poll(Math.min(max, count - from));
          if (batch === 'end') return 'end';
          return Array.isArray(batch)
            ? numbered(batch as readonly Row[], from)
            : (batch as Promise<readonly Row[] | 'end'>).then((late) =>
                late === 'end' ? 'end' : numbered(late, from),
              );
        },
        position: () => reader.position(),
        close: () => reader.close(),
      };
    },
  };
}
