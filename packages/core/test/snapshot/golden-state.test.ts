import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Committable, CommittablesHandle, SectionsHandle, StateMeta } from '../../src/contracts/snapshot.js';
import type { KeyedSection } from '../../src/contracts/state-backend.js';
import { ByteWriter } from '../../src/element/bytes.js';
import { encodeCommittables, readCommittables } from '../../src/snapshot/committables.js';
import { KeyedSectionWriter } from '../../src/snapshot/keyed-section-writer.js';
import { readKeyedGroups } from '../../src/snapshot/keyed-section-reader.js';
import { defaultSerializer } from '../../src/state/default-serializer.js';
import { readRows, writeListRow, writeMapRow, writeValueRow } from '../../src/state/rows.js';
import { MemoryBlob } from './memory-blob.js';

// Bytes as they were first stored. They must be read for ever; these also are still written just so.

function golden(name: string): { readonly handle: unknown; readonly bytes: string } {
  return JSON.parse(readFileSync(new URL(`../golden/${name}`, import.meta.url), 'utf8')) as ReturnType<typeof golden>;
}

const serializer = { id: 'msgpack', version: 1 };
const VALUE: StateMeta = { name: 'total', kind: 'value', serializer };
const LIST: StateMeta = { name: 'recent', kind: 'list', serializer };
const MAP: StateMeta = { name: 'by-day', kind: 'map', serializer };

function section(keyGroup: number, state: StateMeta, count: number, write: (out: ByteWriter) => void): KeyedSection {
  const out = new ByteWriter();
  write(out);
  return { keyGroup, state, count, rows: out.toBytes() };
}

const SECTIONS: readonly KeyedSection[] = [
  section(3, VALUE, 2, (out) => {
    writeValueRow(out, 'SFO', 42, defaultSerializer);
    writeValueRow(out, 7, 0.5, defaultSerializer);
  }),
  section(3, LIST, 1, (out) => writeListRow(out, ['SFO', 7n], [null, true, 'ü'], 0, 3, defaultSerializer)),
  section(300, MAP, 1, (out) => writeMapRow(out, false, 'mon', { sum: -0, days: new Set([1]) }, defaultSerializer)),
];
const ROWS = [
  ['value', 'SFO', 42],
  ['value', 7, 0.5],
  ['list', ['SFO', 7n], [null, true, 'ü']],
  ['map', false, 'mon', { sum: -0, days: new Set([1]) }],
];

test('keyed state of the first format is read, and written, as it is stored', async () => {
  const stored = golden('keyed-sections-v1.json');
  const bytes = Buffer.from(stored.bytes, 'hex');
  const rows: unknown[] = [];
  const groups = [...readKeyedGroups(stored.handle as SectionsHandle, bytes, { first: 0, last: 500 }, 'golden')];
  for (const each of groups.flatMap(({ sections }) => sections)) {
    readRows(each, defaultSerializer, {
      value: (...row) => rows.push(['value', ...row]),
      list: (...row) => rows.push(['list', ...row]),
      map: (...row) => rows.push(['map', ...row]),
    });
  }
  expect(rows).toEqual(ROWS);
  expect(groups.map(({ keyGroup, watermark }) => [keyGroup, watermark])).toEqual([
    [3, 1_700_000_000_123],
    [300, 1_700_000_000_123],
  ]);

  const blob = new MemoryBlob();
  const range = { first: 0, last: 500 };
  const writer = new KeyedSectionWriter({ range, watermark: 1_700_000_000_123, createBlob: () => blob });
  for (const each of SECTIONS) await writer.section(each);
  expect(await writer.finish()).toEqual(stored.handle);
  expect(Buffer.from(blob.bytes).toString('hex')).toBe(stored.bytes);
});

const COMMITTABLES: readonly Committable[] = [
  {
    identity: { job: 'delays', lineage: '3f2a', sink: 'out', attempt: 2, checkpointId: 300, subtask: 1, sequence: 0 },
    payload: { path: 'part-0', length: 2 ** 40 },
  },
  {
    identity: { job: 'delays', lineage: '3f2a', sink: 'out', attempt: 1, checkpointId: 0, subtask: 0, sequence: 9 },
    payload: 'txn-7',
  },
];

test('committables of the first format are read, and written, as they are stored', () => {
  const stored = golden('committables-v1.json');
  const handle = stored.handle as CommittablesHandle;
  expect(readCommittables(handle, Buffer.from(stored.bytes, 'hex'), defaultSerializer, 'golden')).toEqual(COMMITTABLES);
  const { bytes, ...rest } = encodeCommittables({
    destination: { id: 'd', name: '/out' },
    serializer: defaultSerializer,
    values: COMMITTABLES,
  });
  expect(rest).toEqual(stored.handle);
  expect(Buffer.from(bytes).toString('hex')).toBe(stored.bytes);
});
