import { isUtf8 } from 'node:buffer';
import { WeirError } from '@weir/core/contracts';
import type { DecodedLines, LineFormat, MalformedLine } from './decoder.js';
import { eachLine } from './each-line.js';
import type { Encoder } from './encoder.js';

/**
 * A record is the text of a line in UTF-8, without its line end (LF or CR LF). An empty line is the record '';
 * nothing after the last line end is no record. Written lines end with LF; a record with a line break in it fails with SINK_FAILED.
 */
export function textLines(): LineFormat<string> & Encoder<string> {
  return {
    kind: 'lines',
    extension: 'txt',
    decoder: () => ({ decode }),
    encoder: () => () => encode,
  };
}

function decode(bytes: Buffer): DecodedLines<string> {
  const records: string[] = [];
  const ends: number[] = [];
  const malformed: MalformedLine[] = [];
  const valid = isUtf8(bytes);
  eachLine(bytes, (start, stop, end) => {
    if (!valid && !isUtf8(bytes.subarray(start, stop))) {
      malformed.push({ start, end, reason: 'is not valid UTF-8' });
      return;
    }
    // Line by line: pieces of one long string would keep all of it alive for as long as one of them is in somebody's state.
    records.push(bytes.toString('utf8', start, stop));
    ends.push(end);
  });
  return { records, ends, malformed, consumed: bytes.length };
}

function encode(records: readonly string[]): Uint8Array {
  const broken = records.find((record) => record.includes('\n'));
  if (broken !== undefined) {
    throw new WeirError(
      'SINK_FAILED',
      `A record of textLines() has a line break in it and would become two: ${JSON.stringify(broken.slice(0, 100))}. Use jsonLines().`,
      { recoverable: false },
    );
  }
  return Buffer.from(records.join('\n') + '\n', 'utf8');
}
