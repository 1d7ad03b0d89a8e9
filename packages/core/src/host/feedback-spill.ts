import type { TemporaryFile, TemporaryFiles } from '../contracts/temporary-files.js';
import { isWeirError, messageOf, WeirError } from '../errors.js';

/** A file that has grown to this is not written to any more, so that disk space comes back while the loop still spills. */
const SEGMENT_BYTES = 16 * 1024 * 1024;
/** Bytes on their way to the disk; beyond it the head stops, since the disk is slower than the loop. */
const UNWRITTEN_BYTES = 4 * 1024 * 1024;

interface Segment {
  /** Made when it is written to first. */
  file: Promise<TemporaryFile> | undefined;
  size: number;
  /** Frames that were not read yet. */
  frames: number;
}
/** Some bytes on disk, or on their way to it. */
export interface Frame {
  readonly segment: Segment;
  readonly position: number;
  readonly length: number;
  /** Until they are written. */
  bytes: Uint8Array | undefined;
}

export interface FeedbackSpillOptions {
  /** For messages. */
  readonly loop: string;
  readonly files: TemporaryFiles;
  readonly maxBytes: number;
  readonly onFailed: (error: unknown) => void;
  /** Something was written. */
  readonly onProgress: () => void;
}

/** The records of one loop's head that do not fit into memory: frames in temporary files, each read once. */
export class FeedbackSpill {
  readonly #options: FeedbackSpillOptions;
  readonly #segments = new Set<Segment>();
  #current: Segment | undefined;
  #writing: Promise<void> = Promise.resolve();
  #unwritten = 0;
  #waiting = 0;
  #closed = false;

  constructor(options: FeedbackSpillOptions) {
    this.#options = options;
  }

  /** Nothing more should come before something is written. */
  get isOverBudget(): boolean {
    return this.#unwritten > UNWRITTEN_BYTES;
  }

  /** Written by and by, in order. Fails the job with FEEDBACK_OVERFLOW if more waits than is allowed. */
  write(bytes: Uint8Array): Frame {
    const { loop, maxBytes, onFailed, onProgress } = this.#options;
    this.#waiting += bytes.length;
    if (this.#waiting > maxBytes) {
      const message =
        `More than maxFeedbackBytes = ${String(maxBytes)} bytes of records wait in loop ${loop}: it makes more records than leave it. ` +
        'See that each record leaves the loop in the end, or raise maxFeedbackBytes.';
      onFailed(new WeirError('FEEDBACK_OVERFLOW', message, { recoverable: false }));
    }
    const segment = this.#segmentFor(bytes.length);
    const frame: Frame = { segment, position: segment.size, length: bytes.length, bytes };
    // What an attempt that has ended still sends goes nowhere.
    if (this.#closed) return frame;
    segment.size += bytes.length;
    segment.frames++;
    this.#unwritten += bytes.length;
    this.#writing = this.#writing
      .then(async () => {
        segment.file ??= this.#options.files.create();
        await (await segment.file).write(bytes);
      })
      .then(
        () => {
          frame.bytes = undefined;
          this.#unwritten -= bytes.length;
          onProgress();
        },
        (error: unknown) => {
          onFailed(this.#failure(error));
        },
      );
    return frame;
  }

  async read({ segment, position, length, bytes }: Frame): Promise<Uint8Array> {
    try {
      // Written, hence made.
      const read = bytes ?? (await readAll(await segment.file!, position, length));
      this.#waiting -= length;
      if (--segment.frames === 0) await this.#close(segment);
      return read;
    } catch (error) {
      throw this.#failure(error);
    }
  }

  /** Deletes everything. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#segments].map((segment) => this.#close(segment)));
  }

  #segmentFor(length: number): Segment {
    if (this.#current === undefined || this.#current.size + length > SEGMENT_BYTES) {
      this.#current = { file: undefined, size: 0, frames: 0 };
      this.#segments.add(this.#current);
    }
    return this.#current;
  }

  async #close(segment: Segment): Promise<void> {
    if (!this.#segments.delete(segment)) return;
    if (this.#current === segment) this.#current = undefined;
    await this.#writing;
    const file = await segment.file?.catch(() => undefined);
    await file?.close();
  }

  #failure(error: unknown): WeirError {
    if (isWeirError(error)) return error;
    const message = `Records that wait in loop ${this.#options.loop} could not be kept on disk: ${messageOf(error)}`;
    return new WeirError('FEEDBACK_OVERFLOW', message, { cause: error });
  }
}

async function readAll(file: TemporaryFile, position: number, length: number): Promise<Uint8Array> {
  const target = new Uint8Array(length);
  for (let at = 0; at < length;) {
    const bytes = await file.read(position + at, length - at);
    if (bytes.length === 0) throw new Error(`a temporary file ends ${String(length - at)} bytes too early`);
    target.set(bytes, at);
    at += bytes.length;
  }
  return target;
}
