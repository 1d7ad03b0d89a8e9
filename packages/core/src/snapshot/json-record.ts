import { crc32 } from 'node:zlib';

/** The fields of a record, or what is wrong with it ("is damaged"). */
export type ReadRecord =
  | { readonly fields: Readonly<Record<string, unknown>>; readonly fault?: undefined }
  | { readonly fields?: undefined; readonly fault: string };

const CHECKSUM = /^(?<head>\{.*),"checksum":"(?<checksum>[\da-f]{8})"\}\n$/s;

/** A small record as JSON that a person can read, with the checksum of all before it. */
export function encodeRecord(format: string, version: number, fields: object): Uint8Array {
  const text = JSON.stringify({ format, version, ...fields });
  const head = text.slice(0, -1);
  return Buffer.from(`${head},"checksum":"${checksumOf(head)}"}\n`);
}

/** Reads what {@link encodeRecord} wrote, as a whole: what a bit or an editor has changed is no record. What the fields are is for the caller to check. */
export function decodeRecord(bytes: Uint8Array, format: string, version: number): ReadRecord {
  const text = Buffer.from(bytes).toString('utf8');
  const fields = parse(text);
  if (fields?.['format'] !== format) return { fault: 'is damaged' };
  if (fields['version'] !== version)
    return { fault: `has version ${String(fields['version'])}, this weir reads version ${String(version)}` };
  const { head = '', checksum } = CHECKSUM.exec(text)?.groups ?? {};
  return checksum === checksumOf(head) ? { fields } : { fault: 'is damaged: its checksum differs' };
}

/** True for a number that counts something: ids, attempts, times. */
export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function checksumOf(text: string): string {
  return crc32(text).toString(16).padStart(8, '0');
}

function parse(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
