import type { KeyedSection } from '../contracts/state-backend.js';
import { ByteReader, ByteWriter } from '../element/bytes.js';
import { skipStamped } from './stamped-serializer.js';

/**
 * The rows of a section without what has expired, by the time at which each value's began: the same section if that is nothing, undefined if
 * nothing is left (Flink: cleanupFullSnapshot). Decodes neither keys nor values.
 */
export function liveRows(section: KeyedSection, isOver: (since: number) => boolean): KeyedSection | undefined {
  const kept = new KeptBytes(section.rows);
  const from = new ByteReader(section.rows);
  let count = 0;
  for (let row = 0; row < section.count; row++) {
    const start = from.position;
    skipBlock(from);
    if (section.state.kind === 'map') skipBlock(from);
    const isLive = section.state.kind === 'list' ? passList(from, kept, isOver) : !isOver(skipStamped(from));
    if (isLive) count++;
    else kept.leaveOut(start, from.position);
  }
  const rows = kept.end();
  if (rows === section.rows) return section;
  return count === 0 ? undefined : { ...section, count, rows };
}

/** False if no element of the list is left. The reader is behind the key. */
function passList(from: ByteReader, kept: KeptBytes, isOver: (since: number) => boolean): boolean {
  const keyEnd = from.position;
  const count = from.varint();
  const first = from.position;
  let live = 0;
  for (let i = 0; i < count; i++) if (!isOver(skipStamped(from))) live++;
  if (live === 0 || live === count) return live > 0;
  kept.leaveOut(keyEnd, first);
  kept.insert((out) => {
    out.varint(live);
  });
  from.position = first;
  for (let i = 0; i < count; i++) {
    const at = from.position;
    if (isOver(skipStamped(from))) kept.leaveOut(at, from.position);
  }
  return true;
}

/** Copies nothing until something is left out. */
class KeptBytes {
  readonly #bytes: Uint8Array;
  #out: ByteWriter | undefined;
  /** Up to where all is decided. */
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  leaveOut(start: number, end: number): void {
    this.#out ??= new ByteWriter(this.#bytes.length);
    this.#out.bytes(this.#bytes.subarray(this.#at, start));
    this.#at = end;
  }
  insert(write: (out: ByteWriter) => void): void {
    write((this.#out ??= new ByteWriter(this.#bytes.length)));
  }
  end(): Uint8Array {
    if (this.#out === undefined) return this.#bytes;
    this.#out.bytes(this.#bytes.subarray(this.#at));
    return this.#out.view();
  }
}

function skipBlock(from: ByteReader): void {
  from.bytes(from.varint());
}
