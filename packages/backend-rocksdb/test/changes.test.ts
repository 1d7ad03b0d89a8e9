import {
  ByteWriter,
  defaultSerializer as serializer,
  keyGroupOf,
  writeEntryRemoval,
  writeListChange,
  writeListGrowth,
  writeListRow,
  writeMapChange,
  writeMapRow,
  writeRemoval,
  writeValueChange,
  writeValueRow,
  type StateKind,
} from '@weir/core/contracts';
import { expect, test } from 'vitest';
import { describeRocks, useDirectory } from './support/driver.js';
import { MAX_PARALLELISM, openStore, type OpenStore } from './support/store.js';

const GROUP = 3;
/** Keys of one group, which a section is of. */
const [A, B, C] = Array.from({ length: 200 }, (_, i) => `k${String(i)}`).filter(
  (key) => keyGroupOf(key, MAX_PARALLELISM) === GROUP,
) as [string, string, string];

describeRocks('what another backend has stored as changes', (driver) => {
  const place = useDirectory();

  for (const cacheSize of [1, 1 << 20]) {
    test(`is put upon what it changes, with a cache of ${String(cacheSize)} bytes`, async () => {
      await using to = await openStore(driver, place('work'), { cacheSize });
      give(to, 'value', false, 2, (out) => {
        writeValueRow(out, A, 1, serializer);
        writeValueRow(out, B, 1, serializer);
      });
      give(to, 'list', false, 3, (out) => {
        for (const key of [A, B, C]) writeListRow(out, key, [1, 2], 0, 2, serializer);
      });
      give(to, 'map', false, 4, (out) => {
        for (const key of [A, B]) for (const mapKey of [1, 2]) writeMapRow(out, key, mapKey, 'old', serializer);
      });
      give(to, 'value', true, 3, (out) => {
        writeValueChange(out, A, 2, serializer);
        writeRemoval(out, B);
        writeValueChange(out, C, 3, serializer);
      });
      give(to, 'list', true, 4, (out) => {
        writeListGrowth(out, A, [1, 2, 3], 2, 3, serializer);
        writeListChange(out, B, [9], 0, 1, serializer);
        writeRemoval(out, C);
        writeListGrowth(out, A, [4], 0, 1, serializer);
      });
      give(to, 'map', true, 4, (out) => {
        writeMapChange(out, A, 2, 'new', serializer);
        writeEntryRemoval(out, A, 1);
        writeRemoval(out, B);
        writeMapChange(out, B, 3, 'new', serializer);
      });
      expect(to.contents()).toEqual(
        [
          ['value', { key: A, kind: 'value', value: 2 }],
          ['value', { key: C, kind: 'value', value: 3 }],
          ['list', { key: A, kind: 'list', values: [1, 2, 3, 4] }],
          ['list', { key: B, kind: 'list', values: [9] }],
          ['map', { key: A, kind: 'map', mapKey: 2, value: 'new' }],
          ['map', { key: B, kind: 'map', mapKey: 3, value: 'new' }],
        ]
          .map((entry) => JSON.stringify(entry))
          .sort(),
      );
    });
  }

  test('is refused where it is not whole', async () => {
    await using to = await openStore(driver, place('work'));
    expect(() => {
      give(to, 'value', true, 2, (out) => {
        writeValueChange(out, A, 2, serializer);
      });
    }).toThrow(/^CHECKPOINT_UNREADABLE.*State 'value' of operator 'totals'/);
  });
});

function give(
  to: OpenStore,
  kind: StateKind,
  isChange: boolean,
  count: number,
  write: (out: ByteWriter) => void,
): void {
  const out = new ByteWriter();
  write(out);
  to.store.restore({
    keyGroup: GROUP,
    state: { name: kind, kind, serializer: { id: serializer.id, version: serializer.version } },
    count,
    rows: out.toBytes(),
    isChange,
  });
}
