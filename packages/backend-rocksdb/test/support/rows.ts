import { Buffer } from 'node:buffer';

/** An operation of a batch, on the family at a position. */
export type Operation =
  | { readonly op: 'put'; readonly family?: number; readonly key: string; readonly value: string }
  | { readonly op: 'delete'; readonly family?: number; readonly key: string }
  | { readonly op: 'delete-range'; readonly family?: number; readonly lower: string; readonly upper: string };

/** A batch as `RocksDatabase.write` takes it. Characters are bytes (latin1). */
export function batchOf(...operations: readonly Operation[]): Uint8Array {
  return Buffer.concat(
    operations.map((operation) => {
      const { family = 0 } = operation;
      switch (operation.op) {
        case 'put':
          return row([1, family], operation.key, operation.value);
        case 'delete':
          return row([2, family], operation.key, '');
        case 'delete-range':
          return row([3, family], operation.lower, operation.upper);
      }
    }),
  );
}

/** The rows that an iterator has filled in. */
export function rowsIn(bytes: Uint8Array, length: number): [key: string, value: string][] {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, length);
  const rows: [string, string][] = [];
  for (let at = 0; at < length; ) {
    const value = at + 8 + buffer.readUInt32LE(at);
    const end = value + buffer.readUInt32LE(at + 4);
    rows.push([buffer.latin1Slice(at + 8, value), buffer.latin1Slice(value, end)]);
    at = end;
  }
  return rows;
}

export function bytesOf(text: string): Uint8Array {
  return Buffer.from(text, 'latin1');
}

function row(head: readonly number[], key: string, value: string): Buffer {
  const lengths = Buffer.alloc(8);
  lengths.writeUInt32LE(key.length, 0);
  lengths.writeUInt32LE(value.length, 4);
  return Buffer.concat([Buffer.from(head), lengths, bytesOf(key), bytesOf(value)]);
}
