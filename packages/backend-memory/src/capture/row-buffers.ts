import { ByteWriterPool } from '@weir/core/contracts';
import type { ByteWriter } from '@weir/core/contracts';

/** A section is closed when it has grown to this size, so that what lies between state and storage stays small. */
export const SECTION_BYTES: number = 16 * 1024;

/** The same for rows that come one by one, wherever records happen to go: there are as many of these as key groups. */
export const SMALL_SECTION_BYTES: number = 1536;

/** Room that the buffers of one store keep between its captures. */
const POOLED_SMALL = 4 * 1024 * 1024;
const POOLED_LARGE = 4 * 1024 * 1024;
/** Grown to more for a huge row, a buffer is not kept. */
const MOST_SMALL = 4096;
const MOST_LARGE = SECTION_BYTES + 4096;

/** Buffers for rows, which go from one capture to the next. */
export class RowBuffers {
  // With room for one more row than fills a section, or every section would leave garbage.
  readonly #small = new ByteWriterPool({ initialBytes: MOST_SMALL / 2, pooledBytes: POOLED_SMALL });
  readonly #large = new ByteWriterPool({ initialBytes: MOST_LARGE, pooledBytes: POOLED_LARGE });

  take(isSmall: boolean): ByteWriter {
    return isSmall ? this.#small.take() : this.#large.take();
  }
  give(buffer: ByteWriter): void {
    if (buffer.capacity <= MOST_SMALL) this.#small.give(buffer);
    else this.#large.give(buffer, MOST_LARGE);
  }
}
