import { hasCode } from '@weir/core/contracts';
import type { LineDecoder, LineFormat } from '../format/decoder.js';
import { openBytes } from './byte-stream.js';
import { positionGone, type InputFile } from './input-file.js';
import { LineBuffer } from './line-buffer.js';
import { LineReader } from './line-reader.js';
import type { MalformedLines } from './malformed-lines.js';
import { passHeader } from './pass-header.js';
import type { BytePosition } from './position.js';
import { Prefetch } from './prefetch.js';

export interface OpenLinesOptions {
  readonly maxLineBytes: number;
  readonly skipped: MalformedLines | undefined;
}
/** Bytes of a file, opened where reading begins. */
interface OpenedInput {
  readonly input: Prefetch;
  readonly buffer: LineBuffer;
  readonly start: BytePosition;
}

/** A reader of a file of lines, from its beginning or from a position of an earlier reader. */
export async function openLines<T>(
  file: InputFile,
  format: LineFormat<T>,
  position: BytePosition | undefined,
  options: OpenLinesOptions,
): Promise<LineReader<T>> {
  const decoder = await format.decoder({ maxLineBytes: options.maxLineBytes });
  if (position === undefined || position.offset === 0) {
    return new LineReader({ file, decoder, ...options, ...(await openStart(file, decoder, options, position)) });
  }
  if (decoder.header !== undefined) {
    const { input } = await openStart(file, decoder, options, position);
    await input.close();
  }
  return new LineReader({ file, decoder, ...options, ...(await openAt(file, position)) });
}

/** Past the byte order mark and the header, if there are any. */
async function openStart(
  file: InputFile,
  decoder: LineDecoder<unknown>,
  { maxLineBytes }: OpenLinesOptions,
  resumesAt?: BytePosition,
): Promise<OpenedInput> {
  const input = await open(file, 0, resumesAt);
  try {
    const buffer = new LineBuffer(0);
    while (!buffer.ended && buffer.length < BYTE_ORDER_MARK.length) buffer.feed(await input.next());
    if (buffer.peek(BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK)) buffer.advance(BYTE_ORDER_MARK.length);
    const passed = decoder.header === undefined ? 0 : await passHeader(file, decoder, maxLineBytes, { input, buffer });
    return { input, buffer, start: { kind: 'byte', offset: buffer.offset, line: 1 + passed } };
  } catch (error) {
    await input.close();
    throw error;
  }
}

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
const LF = 10;

/** At a position, which has to follow a line end or be the end of the file: else the file is not the one that was read. */
async function openAt(file: InputFile, position: BytePosition): Promise<OpenedInput> {
  const { offset } = position;
  const input = await open(file, offset - 1, position);
  try {
    const buffer = new LineBuffer(offset - 1);
    while (!buffer.ended && buffer.length < 2) buffer.feed(await input.next());
    const stored = `byte ${String(offset)}`;
    if (buffer.length === 0) {
      const { size } = await file.fileSystem.stat(file.path);
      const available = file.gzip ? 'there are fewer when it is decompressed' : `it has only ${String(size)}`;
      throw positionGone(file, stored, available);
    }
    if (buffer.length > 1 && buffer.peek(1)[0] !== LF) {
      throw positionGone(file, stored, 'no line begins there: the file was changed');
    }
    buffer.advance(1);
    return { input, buffer, start: position };
  } catch (error) {
    await input.close();
    throw error;
  }
}

async function open(file: InputFile, offset: number, resumesAt: BytePosition | undefined): Promise<Prefetch> {
  try {
    return new Prefetch(await openBytes(file, offset));
  } catch (error) {
    if (!hasCode(error, 'ENOENT') || resumesAt === undefined) throw error;
    throw positionGone(file, `byte ${String(resumesAt.offset)}`, 'it is not there any more', error);
  }
}
