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
  for (let at = 0; at < length;) {
    const value = at + 8 + buffer.readUInt32LE(at);
    const end = value + buffer.readUInt32LE(at + 4);
    rows.push([buffer.toString('latin1', at + 8, value), buffer.toString('latin1', value, end)]);
    at = end;
  }
  return rows;
}

/** Keys as `RocksDatabase.getMany` takes them. */
export function keysOf(...keys: readonly string[]): Uint8Array {
  return Buffer.concat(
    keys.map((key) => {
      const length = Buffer.alloc(4);
      length.writeUInt32LE(key.length);
      return Buffer.concat([length, bytesOf(key)]);
    }),
  );
}

/** The values that `RocksDatabase.getMany` has filled in. */
export function valuesIn(bytes: Uint8Array, length: number): (string | undefined)[] {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, length);
  const values: (string | undefined)[] = [];
  for (let at = 0; at < length;) {
    const size = buffer.readUInt32LE(at);
    const isAbsent = size === 0xffffffff;
    const end = at + 4 + (isAbsent ? 0 : size);
    values.push(isAbsent ? undefined : buffer.toString('latin1', at + 4, end));
    at = end;
  }
  return values;
}

/** Characters are bytes (latin1), here and everywhere. */
export function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('latin1');
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
