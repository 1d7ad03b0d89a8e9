import { isUtf8 } from 'node:buffer';
import { messageOf, WeirError } from '@weir/core/contracts';
import type { DecodedLines, LineDecoder, LineFormat, MalformedLine } from './decoder.js';
import { eachLine } from './each-line.js';
import type { Encoder } from './encoder.js';
import { isSuspicious, unkeepable } from './json-nesting.js';
import { schemaCheck, type SchemaCheck } from './schema-check.js';

export interface JsonLinesOptions {
  /**
   * JSON Schema (draft 7; 2019-09 or 2020-12 if `$schema` says so) that every line which is read has to fit, else it is malformed. A schema with
   * keywords or formats that would not be checked is CONFIG_INVALID.
   */
  readonly schema?: object | undefined;
}

/**
 * A record is the JSON value of a line (NDJSON); lines of nothing but white space are passed over. `T` is what the caller expects the lines to hold:
 * without a schema it is not checked. A line is malformed, too, if its value could not be kept in state: nested more than 256 deep, or with a
 * property named __proto__ or __keys__. Written values are those of JSON.stringify; what it has no text for (undefined, functions, bigint)
 * fails with SINK_FAILED.
 */
export function jsonLines<T = unknown>(options: JsonLinesOptions = {}): LineFormat<T> & Encoder<T> {
  const { schema } = options;
  return {
    kind: 'lines',
    extension: 'jsonl',
    async decoder() {
      return jsonDecoder<T>(schema === undefined ? undefined : await schemaCheck(schema));
    },
    encoder: () => () => encode,
  };
}

function jsonDecoder<T>(check: SchemaCheck | undefined): LineDecoder<T> {
  return {
    decode(bytes): DecodedLines<T> {
      const records: T[] = [];
      const ends: number[] = [];
      const malformed: MalformedLine[] = [];
      const valid = isUtf8(bytes);
      const suspicious = isSuspicious(bytes);
      eachLine(bytes, (start, stop, end) => {
        const text = bytes.toString('utf8', start, stop);
        let value: T;
        try {
          // The caller named the type; a schema makes sure of it.
          value = JSON.parse(text) as T;
        } catch (error) {
          if (text.trim() !== '') malformed.push({ start, end, reason: `is not JSON: ${messageOf(error)}` });
          return;
        }
        const problem =
          valid || isUtf8(bytes.subarray(start, stop))
            ? (unkeepable(value, stop - start, suspicious) ?? check?.(value))
            : 'is not valid UTF-8';
        if (problem === undefined) {
          records.push(value);
          ends.push(end);
        } else malformed.push({ start, end, reason: problem });
      });
      return { records, ends, malformed, consumed: bytes.length };
    },
  };
}

function encode(records: readonly unknown[]): Uint8Array {
  let text = '';
  for (const record of records) text += line(record) + '\n';
  return Buffer.from(text, 'utf8');
}

/** Its own type forgets that there is no text for undefined, functions and symbols. */
const stringify: (value: unknown) => string | undefined = JSON.stringify;

function line(record: unknown): string {
  let text: string | undefined;
  try {
    text = stringify(record);
  } catch (error) {
    throw noJson(messageOf(error), error);
  }
  if (text === undefined) throw noJson(`a value of type ${typeof record} has no JSON text`);
  return text;
}

function noJson(problem: string, cause?: unknown): WeirError {
  return new WeirError('SINK_FAILED', `A record cannot be written as a line of JSON: ${problem}`, {
    cause,
    recoverable: false,
  });
}
