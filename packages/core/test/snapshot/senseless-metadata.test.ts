import { readFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CheckpointMetadata, OperatorMetadata, SubtaskState } from '../../src/contracts/metadata.js';
import type { SectionsHandle } from '../../src/contracts/snapshot.js';
import { ByteWriter } from '../../src/element/bytes.js';
import { isWeirError } from '../../src/errors.js';
import { writeList } from '../../src/snapshot/handle-bytes.js';
import { decodeMetadata, encodeMetadata } from '../../src/snapshot/metadata.js';
import { writeBody } from '../../src/snapshot/metadata-body.js';
import { featuresOf } from '../../src/snapshot/metadata-features.js';

// Bytes that are whole by length and checksum, and say what no checkpoint can be.

const serializer = { id: 'msgpack', version: 1 };
const inline = { kind: 'inline' as const, bytes: Uint8Array.of(1, 2, 3) };
const file = { kind: 'blob' as const, path: 'b', length: 100, algorithm: 'crc32' as const, checksum: 0 };

function sectionsOf(first: number, last: number): SectionsHandle {
  return {
    range: { first, last },
    format: 'canonical',
    states: [{ name: 'total', kind: 'value', serializer }],
    groups: [
      { keyGroup: first, offset: 0, length: 40 },
      { keyGroup: last, offset: 40, length: 60 },
    ],
    blob: file,
  };
}
function subtask(index: number, parts: Partial<SubtaskState> = {}): SubtaskState {
  return { index, keyed: [], operator: [], committables: undefined, channels: [], ...parts };
}
const KEYED: OperatorMetadata = {
  uid: 'keyed',
  parallelism: 2,
  maxParallelism: 128,
  status: 'running',
  enumerator: undefined,
  subtasks: [subtask(0, { keyed: [sectionsOf(0, 63)] }), subtask(1, { keyed: [sectionsOf(64, 127)] })],
};
const VALID: CheckpointMetadata = {
  job: 'orders',
  lineage: 'l',
  attempt: 2,
  checkpointId: 7,
  kind: 'checkpoint',
  triggeredAt: 5,
  restoredFrom: { checkpointId: 6, pointer: '/c/chk-6' },
  weirVersion: '0.1.0',
  nodeVersion: '20.0.0',
  selfContained: true,
  graphHash: 'h',
  operators: [
    {
      ...KEYED,
      uid: 'in',
      subtasks: [subtask(1, { operator: [{ name: 'splits', mode: 'list', serializer, count: 3, blob: inline }] })],
    },
    KEYED,
  ],
};

/** As a writer would that checks nothing. */
function bytesOf(metadata: CheckpointMetadata): Uint8Array {
  const out = new ByteWriter();
  out.bytes(Buffer.from('weirmeta', 'latin1'));
  out.u32(0);
  out.u16(1);
  writeList(out, featuresOf(metadata), (feature) => out.text(feature));
  writeBody(out, metadata, featuresOf(metadata));
  out.patchU32(8, out.length + 4);
  out.u32(crc32(out.view()));
  return out.toBytes();
}
const withKeyed = (parts: Partial<OperatorMetadata>): CheckpointMetadata => ({
  ...VALID,
  operators: [VALID.operators[0]!, { ...KEYED, ...parts }],
});
const withHandle = (parts: Partial<SectionsHandle>): CheckpointMetadata =>
  withKeyed({ subtasks: [subtask(0, { keyed: [{ ...sectionsOf(0, 63), ...parts }] })] });
const withSubtask = (parts: Partial<SubtaskState>): CheckpointMetadata => withKeyed({ subtasks: [subtask(0, parts)] });
const values = (count: number): SubtaskState['operator'][number] => ({
  name: 'v',
  mode: 'list',
  serializer,
  count,
  blob: inline,
});

const SENSELESS: readonly (readonly [string, CheckpointMetadata])[] = [
  ['a parallelism of 100,000,000', withKeyed({ parallelism: 1e8, subtasks: [] })],
  ['a parallelism of 0', withKeyed({ parallelism: 0, subtasks: [] })],
  ['a parallelism above the maximum', withKeyed({ parallelism: 129, subtasks: [] })],
  ['a maximum parallelism of 2^40', withKeyed({ maxParallelism: 2 ** 40, subtasks: [] })],
  [
    'another maximum parallelism of keyed state',
    withKeyed({ maxParallelism: 64, subtasks: [subtask(0, { keyed: [sectionsOf(0, 31)] })] }),
  ],
  ['no operator', { ...VALID, operators: [] }],
  ['an operator twice', { ...VALID, operators: [KEYED, KEYED] }],
  ['a subtask twice', withKeyed({ subtasks: [subtask(1), subtask(1)] })],
  ['subtasks in the wrong order', withKeyed({ subtasks: [subtask(1), subtask(0)] })],
  ['a subtask that there is not', withKeyed({ subtasks: [subtask(2)] })],
  ['finished subtasks that there are not', withKeyed({ status: 'partly-finished', finishedSubtasks: [2] })],
  ['all subtasks partly finished', withKeyed({ status: 'partly-finished', finishedSubtasks: [0, 1] })],
  ['no subtask partly finished', withKeyed({ status: 'partly-finished', finishedSubtasks: [] })],
  ['key groups backwards', withHandle({ range: { first: 63, last: 0 } })],
  ['key groups of another subtask', withHandle({ range: { first: 0, last: 64 } })],
  ['missing key groups at the end', withHandle({ range: { first: 0, last: 62 }, groups: [] })],
  ['missing key groups at the beginning', withHandle({ range: { first: 1, last: 63 }, groups: [] })],
  ['missing key groups in between', withSubtask({ keyed: [{ ...sectionsOf(0, 20) }, { ...sectionsOf(22, 63) }] })],
  [
    'a key group twice',
    withHandle({ groups: [0, 0].map((keyGroup, i) => ({ keyGroup, offset: i * 10, length: 10 })) }),
  ],
  ['a key group outside of its range', withHandle({ groups: [{ keyGroup: 64, offset: 0, length: 10 }] })],
  ['a key group behind its file', withHandle({ groups: [{ keyGroup: 3, offset: 90, length: 11 }] })],
  [
    'key groups that lie on each other',
    withHandle({
      groups: [
        { keyGroup: 3, offset: 0, length: 20 },
        { keyGroup: 4, offset: 10, length: 20 },
      ],
    }),
  ],
  ['a state twice', withHandle({ states: [...sectionsOf(0, 63).states, ...sectionsOf(0, 63).states] })],
  ['an operator state twice', withSubtask({ operator: [values(1), values(1)] })],
  ['2^50 values in three bytes', withSubtask({ operator: [values(2 ** 50)] })],
  [
    '2^50 records in flight in three bytes',
    withSubtask({
      channels: [
        {
          kind: 'input',
          edge: { producer: 'in', output: 0, consumer: 'keyed', input: 0 },
          fromSubtask: 0,
          toSubtask: 0,
          serializer,
          timed: true,
          count: 2 ** 50,
          blob: inline,
        },
      ],
    }),
  ],
  [
    'records in flight to subtask 2^40',
    withSubtask({
      channels: [
        {
          kind: 'input',
          edge: { producer: 'in', output: 0, consumer: 'keyed', input: 0 },
          fromSubtask: 0,
          toSubtask: 2 ** 40,
          serializer,
          timed: false,
          count: 1,
          blob: inline,
        },
      ],
    }),
  ],
  ['a file without a name', withHandle({ blob: { ...file, path: '' } })],
  ['a file of 2^53 bytes', withSubtask({ operator: [{ ...values(1), blob: { ...file, length: 2 ** 53 } }] })],
  ['a shared file where nothing is shared', withHandle({ blob: { ...file, kind: 'shared', key: 'k' } })],
  ['a checkpoint id of 2^53', { ...VALID, checkpointId: 2 ** 53 }],
  ['an attempt of 2^53', { ...VALID, attempt: 2 ** 53 }],
  ['one restored from checkpoint 2^53', { ...VALID, restoredFrom: { checkpointId: 2 ** 53, pointer: '' } }],
  ['a kept checkpoint of 2^53', { ...VALID, keptForUser: [2 ** 53] }],
  [
    'output of checkpoint 2^53',
    withSubtask({
      committables: { destination: { id: 'd', name: 'd' }, serializer, newest: 2 ** 53, count: 1, blob: inline },
    }),
  ],
  ['no time', { ...VALID, triggeredAt: Number.NaN }],
];

describe('metadata with a right checksum', () => {
  test('that make sense are read', () => {
    expect(decodeMetadata(bytesOf(VALID), 'here')).toEqual(VALID);
    const kept = { ...VALID, keptForUser: [1, 2] };
    expect(decodeMetadata(encodeMetadata(kept), 'here')).toEqual(kept);
    const partly = withKeyed({ status: 'partly-finished', finishedSubtasks: [1] });
    expect(decodeMetadata(encodeMetadata(partly), 'here')).toEqual(partly);
  });

  test.each(SENSELESS)('and %s are unreadable by name, and never written', (_what, metadata) => {
    expect(() => decodeMetadata(bytesOf(metadata), '/c/chk-7')).toThrow(
      expect.objectContaining({
        code: 'CHECKPOINT_UNREADABLE',
        recoverable: false,
        message: expect.stringMatching(/_metadata at \/c\/chk-7 .*Restore from another checkpoint/),
      }),
    );
    expect(() => encodeMetadata(metadata)).toThrow(/^PROTOCOL_VIOLATION: .*checkpoint \d+ of job orders/);
  });

  test('and any bytes between are read or unreadable by name, at once', () => {
    const golden = Uint8Array.from(readFileSync(new URL('../golden/metadata-v1.bin', import.meta.url)));
    const originals = [
      golden,
      bytesOf(VALID),
      bytesOf(withKeyed({ status: 'partly-finished', finishedSubtasks: [1] })),
    ];
    const change = fc.tuple(fc.nat(), fc.oneof(fc.nat({ max: 255 }), fc.constantFrom(0, 1, 0x7f, 0x80, 0xff)));
    fc.assert(
      fc.property(
        fc.constantFrom(...originals),
        fc.array(change, { minLength: 1, maxLength: 9 }),
        fc.boolean(),
        (original, changes, inARow) => {
          const body = original.subarray(0, -4).slice();
          const [start] = changes[0]!;
          for (const [i, [at, byte]] of changes.entries())
            body[12 + ((inARow ? start + i : at) % (body.length - 12))] = byte;
          const bytes = Buffer.concat([body, Buffer.alloc(4)]);
          bytes.writeUInt32BE(crc32(body), body.length);
          try {
            const read = decodeMetadata(bytes, 'here');
            expect(decodeMetadata(encodeMetadata(read), 'here')).toEqual(read);
          } catch (error) {
            if (!isWeirError(error, 'CHECKPOINT_UNREADABLE')) throw error;
          }
        },
      ),
      { numRuns: 3000 },
    );
  });
});
