import { messageOf, WeirError } from '@weir/core/contracts';
import type { LineDecoder } from '../format/decoder.js';
import { describe, type InputFile } from './input-file.js';
import type { LineBuffer } from './line-buffer.js';
import type { Prefetch } from './prefetch.js';

/** Lets the decoder read the header at the beginning of the buffer, and takes it away. Returns the number of its lines. */
export async function passHeader(
  file: InputFile,
  decoder: LineDecoder<unknown>,
  maxLineBytes: number,
  { buffer, input }: { readonly buffer: LineBuffer; readonly input: Prefetch },
): Promise<number> {
  for (;;) {
    const bytes = buffer.region(buffer.length) ?? Buffer.alloc(0);
    const last = buffer.ended && bytes.length === buffer.length;
    const length = headerLength(file, decoder, bytes, last);
    if (length > 0 || last) {
      buffer.advance(length);
      return bytes.subarray(0, length).filter((byte) => byte === LF).length;
    }
    if (buffer.length > maxLineBytes)
      throw unusable(file, `is longer than the ${String(maxLineBytes)} bytes of maxLineBytes`);
    buffer.feed(await input.next());
  }
}

const LF = 10;

function headerLength(file: InputFile, decoder: LineDecoder<unknown>, bytes: Buffer, last: boolean): number {
  try {
    return decoder.header?.(bytes, last) ?? 0;
  } catch (error) {
    throw unusable(file, messageOf(error), error);
  }
}

function unusable(file: InputFile, problem: string, cause?: unknown): WeirError {
  return new WeirError('SOURCE_MALFORMED', `${describe(file)}: The header ${problem}.`, { cause, recoverable: false });
}
