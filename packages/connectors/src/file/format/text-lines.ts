import { isUtf8 } from 'node:buffer';
import { WeirError } from '@weir/core/contracts';
import type { DecodedLines, LineFormat, MalformedLine } from './decoder.js';
import { eachLine } from './each-line.js';
import type { Encoder } from './encoder.js';

/**
 * A record is the text of a line in UTF-8, without its line end (LF or CR LF). An empty line is the record '';
 * nothing after the last line end is no record. Written lines end with LF. A record that could not be read back as it is (a line break in it, a
 * carriage return at its end, half of a surrogate pair) fails with SINK_FAILED.
 */
export function textLines(): LineFormat<string> & Encoder<string> {
  return {
    kind: 'lines',
    extension: 'txt',
    decoder: () => ({ decode }),
    encoder: () => startFile,
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

const BYTE_ORDER_MARK = '\uFEFF';

function startFile(): (records: readonly string[]) => Uint8Array {
  let atStart = true;
  return (records) => {
    const text = encode(records);
    // Readers take one mark away at the beginning of a file: a record that begins with one would lose it.
    const marked = atStart && text.startsWith(BYTE_ORDER_MARK);
    atStart = false;
    return Buffer.from(marked ? BYTE_ORDER_MARK + text : text, 'utf8');
  };
}

function encode(records: readonly string[]): string {
  const broken = records.find((record) => record.includes('\n'));
  if (broken !== undefined) throw noLine('has a line break in it and would become two', broken);
  const returned = records.find((record) => record.endsWith('\r'));
  if (returned !== undefined)
    throw noLine('ends with a carriage return, which readers take for a part of the line end', returned);
  const text = records.join('\n') + '\n';
  if (!text.isWellFormed()) {
    const torn = records.find((record) => !record.isWellFormed()) ?? '';
    throw noLine('holds half of a surrogate pair, for which UTF-8 has no bytes', torn);
  }
  return text;
}

function noLine(problem: string, record: string): WeirError {
  return new WeirError(
    'SINK_FAILED',
    `A record of textLines() ${problem}: ${JSON.stringify(record.slice(0, 100))}. Use jsonLines().`,
    { recoverable: false },
  );
}
