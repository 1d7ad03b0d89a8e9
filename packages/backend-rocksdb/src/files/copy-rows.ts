import { ByteReader, ByteWriter } from '@weir/core/contracts';
import type { KeyGroup, KeyedSection, StateMeta } from '@weir/core/contracts';
import { PackedBatch } from '../cache/packed-batch.js';
import type { RocksDatabase } from '../driver/rocks-driver.js';
import { STATE_PREFIX_BYTES, endOf, statePrefix } from '../row-keys.js';
import { nextPage, rowsOf } from '../rows.js';
import type { Row } from '../rows.js';

const PAGE_BYTES = 256 * 1024;

/** The rows of one state in one key group, as batches that put them under the id that the state has here. */
export function* batchesOf(from: RocksDatabase, group: KeyGroup, storedId: number, id: number): Generator<PackedBatch> {
  const prefix = statePrefix(group, id);
  const batch = new PackedBatch();
  for (const page of pagesOf(from, group, storedId)) {
    batch.reset();
    for (const { key, value } of rowsOf(page)) {
      const out = batch.put();
      out.bytes(prefix);
      out.bytes(key.subarray(STATE_PREFIX_BYTES));
      batch.value();
      out.bytes(value);
      batch.end();
    }
    yield batch;
  }
}

/** The same rows as canonical sections, for values that another version of the serializer has written. */
export function* sectionsOf(
  from: RocksDatabase,
  keyGroup: KeyGroup,
  storedId: number,
  state: StateMeta,
): Generator<KeyedSection> {
  for (const page of pagesOf(from, keyGroup, storedId)) {
    const rows = new ByteWriter(page.length);
    let count = 0;
    for (const row of rowsOf(page)) {
      appendCanonical(rows, row, state);
      count++;
    }
    yield { keyGroup, state, count, rows: rows.view() };
  }
}

/** The canonical row: the stored key and value, but for what stands between them. */
export function appendCanonical(rows: ByteWriter, { key, value }: Row, state: StateMeta | undefined): void {
  const from = new ByteReader(key, STATE_PREFIX_BYTES);
  rows.block(from.block());
  if (state?.kind === 'map') rows.block(from.bytes(from.remaining));
  rows.bytes(value);
}

function* pagesOf(from: RocksDatabase, group: KeyGroup, id: number): Generator<Uint8Array> {
  const lower = statePrefix(group, id);
  const iterator = from.iterate(0, { lower, upper: endOf(lower) });
  try {
    for (;;) {
      const page = nextPage(iterator, PAGE_BYTES);
      if (page.length === 0) return;
      yield page;
    }
  } finally {
    iterator.close();
  }
}
