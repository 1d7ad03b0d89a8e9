import { WeirError } from '../errors.js';
import { accepted, refused, type Reading } from './reading.js';
import { inspectShort } from './inspect-short.js';

type Unit = 'b' | 'kb' | 'mb' | 'gb';

/** A number of bytes, or a number with its unit ('20 kb', '5mb'); units are powers of 1024, as in Flink. */
export type MemorySize = number | `${number}${Unit}` | `${number} ${Unit}`;

const KIB = 1024;
const MIB = KIB * KIB;
const GIB = KIB * MIB;

const UNITS: ReadonlyMap<string, number> = new Map([
  ...['', 'b', 'bytes'].map((unit) => [unit, 1] as const),
  ...['k', 'kb', 'kibibytes'].map((unit) => [unit, KIB] as const),
  ...['m', 'mb', 'mebibytes'].map((unit) => [unit, MIB] as const),
  ...['g', 'gb', 'gibibytes'].map((unit) => [unit, GIB] as const),
]);

/** Bytes of a memory size; `name` is the option it was given for. Fails with CONFIG_INVALID for anything that is no whole number of bytes. */
export function parseMemorySize(value: MemorySize, name: string): number {
  const reading = readMemorySize(value);
  if (!reading.ok)
    throw new WeirError('CONFIG_INVALID', `${name} ${reading.problem}, but is ${inspectShort(value)}`, {
      recoverable: false,
    });
  return reading.value;
}

/** The same without an exception, for a value of any type. Text without a unit counts bytes. */
export function readMemorySize(value: unknown): Reading<number> {
  if (typeof value === 'number') return wholeBytes(value);
  const match = typeof value === 'string' ? /^(\d+(?:\.\d+)?)\s*([a-z]*)$/i.exec(value.trim()) : null;
  const unit = match === null ? undefined : UNITS.get((match[2] ?? '').toLowerCase());
  if (match === null || unit === undefined) return refused("must be a memory size, such as 4096, '20 kb' or '5 mb'");
  return wholeBytes(Number(match[1]) * unit);
}

function wholeBytes(bytes: number): Reading<number> {
  if (!Number.isSafeInteger(bytes) || bytes < 0) return refused('must be a whole number of bytes and not negative');
  return accepted(bytes);
}

/** Bytes as a person would write them: 20480 is '20 kb'. */
export function formatMemorySize(bytes: number): string {
  for (const [unit, size] of [
    ['gb', GIB],
    ['mb', MIB],
    ['kb', KIB],
  ] as const) {
    if (bytes >= size && bytes % size === 0) return `${String(bytes / size)} ${unit}`;
  }
  return `${String(bytes)} bytes`;
}
