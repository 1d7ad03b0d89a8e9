import { WeirError } from '@weir/core/contracts';
import type { FileMetaData, ParquetParsers, SchemaTree } from 'hyparquet';
import { unusableName } from '../property-names.js';
import type { ExactValues } from './value-forms.js';

export type Conversion = (value: unknown) => unknown;

/** What has to be done to each value of a column that the reader gives; undefined: nothing. SOURCE_MALFORMED for columns that cannot be read exactly. */
export function conversionOf(column: SchemaTree, { int64, decimals }: ExactValues): Conversion | undefined {
  const { name, scale = 0 } = column.element;
  const unusable = namesIn(column).find(unusableName);
  if (unusable !== undefined) throw refused(name, `has the name ${unusable}, which records cannot have`);
  if (isDecimal(column)) return (value) => decimalOf(value, scale, decimals);
  if (leavesOf(column).some(isDecimal)) throw refused(name, 'holds decimals inside of lists or structures');
  if (int64 === 'number') return (value) => mapDeep(value, (leaf) => ownValue(safeNumber(leaf, name)));
  return leavesOf(column).some(isBytes) ? (value) => mapDeep(value, ownValue) : undefined;
}

/** The reader multiplies decimals with a power of ten, which is neither exact nor the nearest: it gets them as plain integers and bytes. */
export function readDecimalsRaw(metadata: FileMetaData): void {
  for (const element of metadata.schema) {
    if (element.converted_type === 'DECIMAL') delete element.converted_type;
    if (element.logical_type?.type === 'DECIMAL') delete element.logical_type;
  }
}

export function timeParsers(timestamps: ExactValues['timestamps']): Partial<ParquetParsers> {
  const text = { stringFromBytes: (bytes: Uint8Array | undefined) => bytes && utf8.decode(bytes) };
  const from = timestamps === 'date' ? dateOf : (nanoseconds: bigint): bigint => nanoseconds;
  // The types of the reader know Dates only; it hands on whatever it gets.
  const times = {
    timestampFromMilliseconds: (millis: bigint | number) => from(BigInt(millis) * 1_000_000n),
    timestampFromMicroseconds: (micros: bigint) => from(micros * 1_000n),
    timestampFromNanoseconds: from,
  } as Pick<ParquetParsers, 'timestampFromMilliseconds' | 'timestampFromMicroseconds' | 'timestampFromNanoseconds'>;
  return { ...text, ...times };
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function dateOf(nanoseconds: bigint): Date {
  if (nanoseconds % 1_000_000n !== 0n) {
    throw new Error(
      `a time has a part of a millisecond (${String(nanoseconds)} ns), which a Date would lose: read it with timestamps: 'nanoseconds'`,
    );
  }
  const date = new Date(Number(nanoseconds / 1_000_000n));
  if (Number.isNaN(date.getTime()))
    throw new Error(`no Date reaches ${String(nanoseconds)} ns: read it with timestamps: 'nanoseconds'`);
  return date;
}

function isDecimal({ element }: SchemaTree): boolean {
  return element.converted_type === 'DECIMAL' || element.logical_type?.type === 'DECIMAL';
}

function isBytes({ element }: SchemaTree): boolean {
  return element.type === 'BYTE_ARRAY' || element.type === 'FIXED_LEN_BYTE_ARRAY';
}

function leavesOf(column: SchemaTree): readonly SchemaTree[] {
  return column.children.length === 0 ? [column] : column.children.flatMap(leavesOf);
}

function namesIn(column: SchemaTree): readonly string[] {
  return [column.element.name, ...column.children.flatMap(namesIn)];
}

/** `unscaled`: an integer, or the big-endian bytes of one in two's complement (parquet-format, LogicalTypes.md, DECIMAL). */
function decimalOf(unscaled: unknown, scale: number, form: ExactValues['decimals']): unknown {
  if (unscaled === null || unscaled === undefined) return unscaled;
  const value = unscaled instanceof Uint8Array ? integerOf(unscaled) : BigInt(unscaled as bigint | number);
  const digits = String(value < 0n ? -value : value).padStart(scale + 1, '0');
  const text = (value < 0n ? '-' : '') + (scale === 0 ? digits : `${digits.slice(0, -scale)}.${digits.slice(-scale)}`);
  return form === 'text' ? text : Number(text);
}

function integerOf(bytes: Uint8Array): bigint {
  let value = 0n;
  for (const byte of bytes) value = (value << 8n) | BigInt(byte);
  return BigInt.asIntN(bytes.length * 8, value);
}

function safeNumber(value: unknown, column: string): unknown {
  if (typeof value !== 'bigint') return value;
  const number = Number(value);
  if (Number.isSafeInteger(number)) return number;
  throw refused(column, `holds ${String(value)}, which is no safe number: read it with int64: 'bigint'`);
}

/** Bytes come as views of a whole page, which a record kept in state would keep alive. */
function ownValue(value: unknown): unknown {
  return value instanceof Uint8Array ? value.slice() : value;
}

function mapDeep(value: unknown, leaf: Conversion): unknown {
  if (Array.isArray(value)) return value.map((element) => mapDeep(element, leaf));
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype)
    return leaf(value);
  return Object.fromEntries(Object.entries(value).map(([name, element]) => [name, mapDeep(element, leaf)]));
}

function refused(column: string, why: string): WeirError {
  return new WeirError('SOURCE_MALFORMED', `Column ${column} ${why}.`, { recoverable: false });
}
