import { ByteReader, ByteWriter, WeirError } from '@weir/core/contracts';
import type { KeyGroup, KeyedCapture, KeyedStateOutput, Slice, StateMeta } from '@weir/core/contracts';
import type { Generations } from '../cache/generations.js';
import type { RocksIterator, RocksSnapshot } from '../driver/rocks-driver.js';
import { appendCanonical } from '../files/copy-rows.js';
import { nextPage, rowsOf } from '../rows.js';
import type { Rows } from '../rows.js';
import { CaptureMoment } from './moment.js';

/** Read at once; then the slice is asked whether it is over. */
const PAGE_BYTES = 8 * 1024;
/** A section is closed when it has grown to this size. */
const SECTION_BYTES = 16 * 1024;

class SnapshotMoment extends CaptureMoment {
  readonly #rows: Rows;
  #snapshot: RocksSnapshot | undefined;

  constructor(checkpointId: number, rows: Rows) {
    super(checkpointId);
    this.#rows = rows;
  }

  iterate(): RocksIterator {
    return this.#rows.iterate(this.#snapshot!);
  }
  protected make(): void {
    this.#snapshot = this.#rows.database.snapshot();
  }
  protected drop(): void {
    this.#snapshot?.release();
  }
}

/** Every row, in canonical sections, read from a view of the database at the moment of the capture. */
export class FullCapture implements KeyedCapture {
  readonly moment: CaptureMoment;
  readonly #moment: SnapshotMoment;
  readonly #generations: Generations;
  readonly #states: ReadonlyMap<number, StateMeta>;
  #isWriting = false;

  /** `states`: by the id that they have in the rows. */
  constructor(checkpointId: number, rows: Rows, generations: Generations, states: ReadonlyMap<number, StateMeta>) {
    this.#moment = new SnapshotMoment(checkpointId, rows);
    this.moment = this.#moment;
    this.#generations = generations;
    this.#states = states;
  }

  async write(out: KeyedStateOutput, slice: Slice): Promise<void> {
    if (this.#isWriting) throw new WeirError('PROTOCOL_VIOLATION', 'A capture is written only once.');
    this.#isWriting = true;
    await this.#moment.come(this.#generations, slice);
    const iterator = this.#moment.iterate();
    try {
      await writeSections(this.#moment, iterator, this.#states, out, slice);
    } finally {
      iterator.close();
    }
  }
  release(): void {
    this.#moment.release();
  }
}

async function writeSections(
  moment: CaptureMoment,
  iterator: RocksIterator,
  states: ReadonlyMap<number, StateMeta>,
  out: KeyedStateOutput,
  slice: Slice,
): Promise<void> {
  const rows = new ByteWriter(2 * SECTION_BYTES);
  let count = 0;
  let keyGroup: KeyGroup = 0;
  let id = -1;
  const give = async (): Promise<void> => {
    const state = states.get(id);
    if (count > 0 && state !== undefined) await out.section({ keyGroup, state, count, rows: rows.view() });
    rows.reset();
    count = 0;
  };
  for (;;) {
    moment.assertWhole();
    const page = nextPage(iterator, PAGE_BYTES);
    if (page.length === 0) break;
    for (const row of rowsOf(page)) {
      const head = new ByteReader(row.key);
      const group = head.u16();
      const state = head.u16();
      if (group !== keyGroup || state !== id || rows.length >= SECTION_BYTES) {
        if (count > 0) await give();
        keyGroup = group;
        id = state;
      }
      appendCanonical(rows, row, states.get(id));
      count++;
    }
    if (slice.isOver()) await slice.next();
  }
  await give();
}
