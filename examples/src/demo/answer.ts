import { createReadStream, readdirSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { FLIGHTS_FILE } from './flights.js';

/** Flights and total delay of each airport: the answer, by a plain loop. */
export type Answer = ReadonlyMap<string, { readonly flights: number; readonly delay: number }>;

export async function computeAnswer(count: number): Promise<Answer> {
  const handle = await open(FLIGHTS_FILE);
  try {
    const { size } = await handle.stat();
    const file = {
      byteLength: size,
      async slice(start: number, end = size): Promise<ArrayBuffer> {
        const bytes = new Uint8Array(end - start);
        await handle.read(bytes, 0, bytes.length, start);
        return bytes.buffer;
      },
    };
    const answer = new Map<string, { flights: number; delay: number }>();
    const rows = await parquetReadObjects({ file, compressors, columns: ['origin', 'delay'], rowEnd: count });
    for (const { origin, delay } of rows as unknown as { readonly origin: string; readonly delay: number | bigint }[]) {
      const airport = answer.get(origin) ?? { flights: 0, delay: 0 };
      airport.flights++;
      airport.delay += Number(delay);
      answer.set(origin, airport);
    }
    return answer;
  } finally {
    await handle.close();
  }
}

export interface Verdict {
  readonly lines: number;
  readonly lost: number;
  readonly duplicated: number;
  /** Airports whose last line has the right delay. */
  readonly rightTotals: number;
}

/** Counts every line of the published output against the answer: the n-th flight of an airport must be there once. */
export async function compare(out: string, answer: Answer): Promise<Verdict> {
  const seen = new Map([...answer].map(([origin, { flights }]) => [origin, new Uint8Array(flights + 1)]));
  let lines = 0;
  let duplicated = 0;
  let rightTotals = 0;
  for (const name of readdirSync(out).filter((file) => !file.startsWith('.'))) {
    for await (const line of createInterface({ input: createReadStream(join(out, name)) })) {
      const [origin = '', flights, delay] = line.split(',');
      const number = Number(flights);
      const times = seen.get(origin);
      lines++;
      const before = times?.[number];
      if (times === undefined || before === undefined || number < 1 || before > 0) duplicated++;
      else times[number] = 1;
      const airport = answer.get(origin);
      if (airport?.flights === number && airport.delay === Number(delay)) rightTotals++;
    }
  }
  let lost = 0;
  for (const times of seen.values()) for (let n = 1; n < times.length; n++) if (times[n] === 0) lost++;
  return { lines, lost, duplicated, rightTotals };
}
