import type { BlobWriter, CheckpointLocation } from '../contracts/checkpoint-storage.js';
import type { BlobHandle, KeyGroupRange, KeyedStateHandle, SectionsHandle } from '../contracts/snapshot.js';
import type { IncrementalOutput, KeyedCapture, KeyedSection, KeyedStateOutput } from '../contracts/state-backend.js';
import { FINAL_WATERMARK } from '../element/element.js';
import type { KeyGroup } from '../element/ids.js';
import { WeirError } from '../errors.js';
import { KeyedSectionWriter } from './keyed-section-writer.js';

export interface KeyedOutputOptions {
  readonly range: KeyGroupRange;
  /** Of the operator when the state was captured; undefined before the first one. */
  readonly watermark: number | undefined;
  readonly sections: NonNullable<KeyedCapture['sections']>;
  /** What a file of sections is known by that later checkpoints may refer to. */
  readonly sharedKey: string;
  readonly location: Pick<CheckpointLocation, 'createBlob' | 'createSharedBlob'>;
}

export interface KeyedOutputResult {
  readonly handles: readonly KeyedStateHandle[];
  /** Bytes that did not lie in storage before. */
  readonly writtenBytes: number;
}

/** Takes what one operator's keyed capture writes, and makes handles of it. */
export class KeyedOutput implements KeyedStateOutput, IncrementalOutput {
  readonly watermark: number | undefined;
  readonly #options: KeyedOutputOptions;
  readonly #writer: KeyedSectionWriter;
  readonly #isMarked: boolean;
  readonly #added: KeyedStateHandle[] = [];
  readonly #blobs = new Set<BlobWriter>();
  #writtenBytes = 0;
  #nextMark: KeyGroup;

  constructor(options: KeyedOutputOptions) {
    this.#options = options;
    this.watermark = options.watermark;
    // Event time that has ended is not worth a mark, since nobody goes by it after a restore.
    this.#isMarked = options.watermark !== undefined && options.watermark !== FINAL_WATERMARK.time;
    this.#nextMark = options.range.first;
    this.#writer = new KeyedSectionWriter({
      range: options.range,
      watermark: options.watermark,
      createBlob: () => this.createBlob(options.sections === 'private' ? undefined : options.sharedKey),
    });
  }

  get incremental(): IncrementalOutput {
    return this;
  }

  section(section: KeyedSection): void | Promise<void> {
    if (section.count === 0) return undefined;
    if (!this.#isMarked) return this.#writer.section(section);
    const marked = this.#markTo(section.keyGroup - 1);
    this.#nextMark = Math.max(this.#nextMark, section.keyGroup + 1);
    return marked === undefined ? this.#writer.section(section) : marked.then(() => this.#writer.section(section));
  }

  createBlob(sharedKey?: string): BlobWriter {
    const { location } = this.#options;
    const inner = sharedKey === undefined ? location.createBlob() : location.createSharedBlob?.(sharedKey);
    if (inner === undefined) {
      throw new WeirError(
        'PROTOCOL_VIOLATION',
        'a state backend wants to share a file between checkpoints where the checkpoint storage cannot: this capture was to be a full one.',
      );
    }
    const blob: BlobWriter = {
      write: (chunk) => inner.write(chunk),
      finish: async () => {
        const handle = await inner.finish();
        this.#writtenBytes += sizeOf(handle);
        return handle;
      },
      abort: () => inner.abort(),
    };
    this.#blobs.add(blob);
    return blob;
  }

  add(handle: KeyedStateHandle): void {
    this.#added.push(handle);
  }

  /** Durable when settled. */
  async finish(): Promise<KeyedOutputResult> {
    const { sections, range } = this.#options;
    // Also in the groups without state: what a key has forgotten is late all the same when it comes again.
    if (this.#isMarked && !this.#added.some(({ format }) => format === 'native')) await this.#markTo(range.last);
    const written = await this.#writer.finish();
    const handles = [...this.#added, ...(written === undefined ? [] : [formatted(written, sections)])];
    return { handles, writtenBytes: this.#writtenBytes };
  }

  /** Forgets and removes what was written. Idempotent. */
  async abort(): Promise<void> {
    await Promise.all([...this.#blobs].map((blob) => blob.abort()));
  }

  #markTo(last: KeyGroup): void | Promise<void> {
    const first = this.#nextMark;
    this.#nextMark = Math.max(first, last + 1);
    return this.#writer.marks(first, last);
  }
}

function formatted(handle: SectionsHandle, sections: KeyedOutputOptions['sections']): SectionsHandle {
  return sections === 'changes' ? { ...handle, format: 'changes' } : handle;
}

export function sizeOf(blob: BlobHandle): number {
  return blob.kind === 'inline' ? blob.bytes.length : blob.length;
}
