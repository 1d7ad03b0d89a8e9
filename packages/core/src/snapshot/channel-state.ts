import type { CheckpointLocation } from '../contracts/checkpoint-storage.js';
import type { Serializer, SerializerRef } from '../contracts/serializer.js';
import type { ChannelStateHandle } from '../contracts/snapshot.js';
import { ByteReader, ByteWriter } from '../element/bytes.js';
import { BATCH_SIZE, batchOf, type RecordBatch } from '../element/element.js';
import { decodeKeyBlock, encodeKeyBlock } from '../element/key-bytes.js';
import type { Key } from '../element/key.js';
import { readerOf } from '../state/stored-by.js';
import { writeBlob } from './stored-values.js';
import { readingOf } from './unreadable.js';

/** Which channel of which attempt: what it is called in a checkpoint. */
export type ChannelName = Pick<ChannelStateHandle, 'edge' | 'fromSubtask' | 'toSubtask'>;

/** Records of one channel as they were when they were encoded. */
export interface EncodedChannelState {
  readonly kind: 'input' | 'loop';
  readonly name: ChannelName;
  readonly serializer: SerializerRef;
  readonly timed: boolean;
  readonly keyed?: boolean | undefined;
  readonly count: number;
  /** The records one after the other, then, if `timed`, the event time of each, then, if `keyed`, the key of each. */
  readonly bytes: Uint8Array;
}

/** Encodes the records of a channel batch by batch. From `add` on they may change. */
export class ChannelStateEncoder {
  readonly #kind: EncodedChannelState['kind'];
  readonly #name: ChannelName;
  readonly #serializer: Serializer;
  readonly #out = new ByteWriter();
  /** Kept as soon as one record has one; others then have none as -Infinity, as in every batch. */
  #times: number[] | undefined;
  readonly #keys: ByteWriter | undefined;
  #count = 0;

  /** `keyed`: the key that travels with a record is written too. Its batches have keys then. */
  constructor(
    name: ChannelName,
    serializer: Serializer,
    { kind = 'input', keyed = false }: { readonly kind?: EncodedChannelState['kind']; readonly keyed?: boolean } = {},
  ) {
    this.#kind = kind;
    if (keyed) this.#keys = new ByteWriter();
    this.#name = name;
    this.#serializer = serializer;
  }

  /** Bytes so far. */
  get size(): number {
    return this.#out.length;
  }

  /** The records of the batch from the one at `from` on. */
  add({ records, timestamps, keys }: RecordBatch<unknown>, from = 0): void {
    if (timestamps !== undefined) this.#times ??= new Array<number>(this.#count).fill(Number.NEGATIVE_INFINITY);
    for (let i = from; i < records.length; i++) {
      this.#serializer.encode(records[i], this.#out);
      this.#times?.push(timestamps?.[i] ?? Number.NEGATIVE_INFINITY);
      if (this.#keys !== undefined) encodeKeyBlock(keys?.[i] as Key, this.#keys);
      this.#count++;
    }
  }

  /** Undefined if there were none. */
  finish(): EncodedChannelState | undefined {
    if (this.#count === 0) return undefined;
    for (const time of this.#times ?? []) this.#out.f64(time);
    if (this.#keys !== undefined) this.#out.bytes(this.#keys.view());
    const { id, version } = this.#serializer;
    return {
      kind: this.#kind,
      name: this.#name,
      serializer: { id, version },
      timed: this.#times !== undefined,
      ...(this.#keys !== undefined && { keyed: true }),
      count: this.#count,
      bytes: this.#out.toBytes(),
    };
  }
}

/** Durable when settled. */
export async function writeChannelState(
  { kind, name, serializer, timed, keyed, count, bytes }: EncodedChannelState,
  location: Pick<CheckpointLocation, 'createBlob'>,
): Promise<ChannelStateHandle> {
  return {
    kind,
    ...name,
    serializer,
    timed,
    ...(keyed === true && { keyed }),
    count,
    blob: await writeBlob(bytes, location),
  };
}

/** `bytes` is what `handle.blob` stands for; `what` names them in messages. Fails as `decodeValues` does. */
export function readChannelState(
  {
    serializer: stored,
    timed,
    keyed = false,
    count,
  }: Pick<ChannelStateHandle, 'serializer' | 'timed' | 'keyed' | 'count'>,
  bytes: Uint8Array,
  serializer: Serializer,
  what: string,
): readonly RecordBatch<unknown>[] {
  const reader = readerOf(serializer, stored, what);
  return readingOf(what, () => {
    const from = new ByteReader(bytes);
    const records = Array.from({ length: count }, () => reader.decode(from));
    const times = timed ? Array.from({ length: count }, () => from.f64()) : undefined;
    const keys = keyed ? Array.from({ length: count }, () => decodeKeyBlock(from)) : undefined;
    if (from.remaining > 0) throw new Error(`${from.remaining} bytes left after ${count} records`);
    return batchesOf(records, times, keys);
  });
}

/** No batch is larger than those that channels carry. */
export function batchesOf(
  records: readonly unknown[],
  times: readonly number[] | undefined,
  keys: readonly Key[] | undefined,
): readonly RecordBatch<unknown>[] {
  return Array.from({ length: Math.ceil(records.length / BATCH_SIZE) }, (_, i): RecordBatch<unknown> => {
    const [from, to] = [i * BATCH_SIZE, (i + 1) * BATCH_SIZE];
    return batchOf(records.slice(from, to), times?.slice(from, to), keys?.slice(from, to));
  });
}
