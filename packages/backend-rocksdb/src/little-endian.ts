/** The number whose big-endian bytes, as a `ByteWriter` writes them, are the little-endian ones of `value`, as RocksDB's driver reads them. */
export function littleEndian(value: number): number {
  return ((value & 0xff) << 24) | ((value & 0xff00) << 8) | ((value >>> 8) & 0xff00) | ((value >>> 24) & 0xff);
}
