/** A growing buffer with a write position; numbers are big-endian. The bytes returned by `view` are overwritten by later writes after `reset`. */
export class ByteWriter {
  #buffer: Buffer;
  #view: DataView;
  /** Bytes written so far. */
  length = 0;

  constructor(capacity = 256) {
    this.#buffer = Buffer.allocUnsafeSlow(capacity);
    this.#view = new DataView(this.#buffer.buffer, this.#buffer.byteOffset, this.#buffer.byteLength);
  }

  /** Bytes that fit before it grows. */
  get capacity(): number {
    return this.#buffer.length;
  }

  #reserve(more: number): void {
    const needed = this.length + more;
    if (needed <= this.#buffer.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, this.#buffer.length * 2));
    this.#buffer.copy(grown, 0, 0, this.length);
    this.#buffer = grown;
    this.#view = new DataView(grown.buffer, grown.byteOffset, grown.byteLength);
  }

  u8(value: number): void {
    this.#reserve(1);
    this.#buffer[this.length++] = value;
  }
  u16(value: number): void {
    this.#reserve(2);
    this.#view.setUint16(this.length, value);
    this.length += 2;
  }
  u32(value: number): void {
    this.#reserve(4);
    this.#view.setUint32(this.length, value);
    this.length += 4;
  }
  i32(value: number): void {
    this.#reserve(4);
    this.#view.setInt32(this.length, value);
    this.length += 4;
  }
  f64(value: number): void {
    this.#reserve(8);
    this.#view.setFloat64(this.length, value);
    this.length += 8;
  }
  /** An unsigned integer below 2^53 in 1 to 8 bytes, seven bits each, lowest first. */
  varint(value: number): void {
    this.#reserve(8);
    let rest = value;
    while (rest >= 0x80) {
      this.#buffer[this.length++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#buffer[this.length++] = rest;
  }
  bytes(source: Uint8Array): void {
    this.#reserve(source.length);
    this.#buffer.set(source, this.length);
    this.length += source.length;
  }
  /** A short block of another writer with its length, which takes one byte. So few bytes are not worth a call into the runtime. */
  copyBlock(source: ByteWriter, start: number): void {
    const end = start + source.blockLength(start);
    this.#reserve(end - start);
    const [words, toWords] = [source.#view, this.#view];
    const [from, to] = [source.#buffer, this.#buffer];
    let { length } = this;
    let i = start;
    for (; i + 4 <= end; i += 4, length += 4) toWords.setInt32(length, words.getInt32(i));
    for (; i < end; i++) to[length++] = from[i]!;
    this.length = length;
  }
  /** Of the block at `start`, the byte included that tells it. */
  blockLength(start: number): number {
    return 1 + this.#buffer[start]!;
  }
  /** UTF-8 without a length. Returns the number of bytes. */
  utf8(text: string): number {
    const start = this.length;
    const units = text.length;
    this.#reserve(units * 3);
    if (units <= 24) {
      const buffer = this.#buffer;
      for (let i = 0; i < units; i++) {
        const unit = text.charCodeAt(i);
        if (unit >= 0x80) {
          this.length = start + this.#buffer.write(text, start);
          return this.length - start;
        }
        buffer[start + i] = unit;
      }
      this.length = start + units;
      return units;
    }
    this.length = start + this.#buffer.write(text, start);
    return this.length - start;
  }
  /** UTF-8 after its length as a varint. */
  text(text: string): void {
    if (text.length < 0x80 / 3) {
      this.#reserve(1 + text.length * 3);
      const at = this.length++;
      const written = this.utf8(text);
      this.#buffer[at] = written;
      return;
    }
    const encoded = Buffer.from(text, 'utf8');
    this.varint(encoded.length);
    this.bytes(encoded);
  }
  /** Bytes after their length as a varint. */
  block(source: Uint8Array): void {
    this.varint(source.length);
    this.bytes(source);
  }
  /** Overwrites a byte written earlier. */
  patchU8(at: number, value: number): void {
    this.#buffer[at] = value;
  }
  /** Overwrites four bytes written earlier. */
  patchU32(at: number, value: number): void {
    this.#view.setUint32(at, value);
  }
  reset(): void {
    this.length = 0;
  }
  /** The bytes written so far, without a copy. */
  view(): Uint8Array {
    return this.#buffer.subarray(0, this.length);
  }
  /** A copy of the bytes written so far. */
  toBytes(): Uint8Array {
    return new Uint8Array(this.view());
  }
}

/** Reads what {@link ByteWriter} wrote. Reading past the end throws a RangeError. */
export class ByteReader {
  readonly #buffer: Buffer;
  readonly #view: DataView;
  position: number;
  readonly end: number;

  constructor(bytes: Uint8Array, start = 0, end: number = bytes.length) {
    this.#buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.position = start;
    this.end = end;
  }

  #take(count: number): number {
    const at = this.position;
    if (count > this.end - at) throw new RangeError(`unexpected end of bytes at ${String(at)} of ${String(this.end)}`);
    this.position = at + count;
    return at;
  }

  get remaining(): number {
    return this.end - this.position;
  }
  u8(): number {
    return this.#view.getUint8(this.#take(1));
  }
  u16(): number {
    return this.#view.getUint16(this.#take(2));
  }
  u32(): number {
    return this.#view.getUint32(this.#take(4));
  }
  i32(): number {
    return this.#view.getInt32(this.#take(4));
  }
  f64(): number {
    return this.#view.getFloat64(this.#take(8));
  }
  varint(): number {
    let value = 0;
    let scale = 1;
    for (let i = 0; i < 8; i++) {
      const byte = this.u8();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 0x80;
    }
    throw new RangeError(`varint too long at ${String(this.position)}`);
  }
  /** A view, without a copy. */
  bytes(count: number): Uint8Array {
    const at = this.#take(count);
    return this.#buffer.subarray(at, at + count);
  }
  utf8(count: number): string {
    const at = this.#take(count);
    if (count <= 24) {
      let text = '';
      for (let i = at; i < at + count; i++) {
        const byte = this.#buffer[i] as number;
        if (byte >= 0x80) return this.#buffer.toString('utf8', at, at + count);
        text += String.fromCharCode(byte);
      }
      return text;
    }
    return this.#buffer.toString('utf8', at, at + count);
  }
  text(): string {
    return this.utf8(this.varint());
  }
  block(): Uint8Array {
    return this.bytes(this.varint());
  }
}
