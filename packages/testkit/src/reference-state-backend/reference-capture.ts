import {
  ByteWriter,
  keyGroupOf,
  WeirError,
  type KeyedCapture,
  type KeyedSection,
  type KeyedStateOutput,
  type KeyGroup,
  type Slice,
  type StateMeta,
} from '@weir/core/contracts';
import type { ReferenceState } from './states.js';

/** The whole state in bytes, encoded at the moment of the capture: nothing that happens later can reach it. */
export class ReferenceCapture implements KeyedCapture {
  #sections: readonly KeyedSection[] | undefined;

  constructor(states: readonly ReferenceState[], maxParallelism: number) {
    this.#sections = states.flatMap((state) => encode(state, maxParallelism)).sort((a, b) => a.keyGroup - b.keyGroup);
  }

  async write(out: KeyedStateOutput, slice: Slice): Promise<void> {
    for (const section of this.#held()) {
      await out.section(section);
      if (slice.isOver()) await slice.next();
    }
  }

  release(): void {
    this.#sections = undefined;
  }

  #held(): readonly KeyedSection[] {
    if (this.#sections !== undefined) return this.#sections;
    throw new WeirError('PROTOCOL_VIOLATION', 'A capture was written after it had been released.');
  }
}

/** One section per key group. */
function encode(state: ReferenceState, maxParallelism: number): KeyedSection[] {
  const { name, kind, serializer } = state.declaration;
  const meta: StateMeta = { name, kind, serializer: { id: serializer.id, version: serializer.version } };
  const groups = new Map<KeyGroup, { readonly out: ByteWriter; count: number }>();
  for (const key of state.keys()) {
    const keyGroup = keyGroupOf(key, maxParallelism);
    const rows = groups.get(keyGroup) ?? { out: new ByteWriter(), count: 0 };
    groups.set(keyGroup, rows);
    rows.count += state.encode(key, rows.out);
  }
  return [...groups].map(([keyGroup, { out, count }]) => ({ keyGroup, state: meta, count, rows: out.toBytes() }));
}
