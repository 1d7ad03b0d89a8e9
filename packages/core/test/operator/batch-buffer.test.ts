import { fc, test as property } from '@fast-check/vitest';
import { Subject } from 'rxjs';
import { expect, test } from 'vitest';
import { BATCH_SIZE, type RecordBatch, type StreamElement } from '../../src/element/element.js';
import { BatchBuffer } from '../../src/operator/batch-buffer.js';

function buffer<T>(): { readonly it: BatchBuffer<T>; readonly batches: RecordBatch<T>[] } {
  const target = new Subject<StreamElement<T>>();
  const batches: RecordBatch<T>[] = [];
  target.subscribe((element) => batches.push(element as RecordBatch<T>));
  return { it: new BatchBuffer(target as never), batches };
}

test('sends a batch when it is full or flushed, none when it is empty, and counts them', () => {
  const { it, batches } = buffer<number>();
  it.flush();
  for (let i = 0; i < BATCH_SIZE + 1; i++) it.push(i);
  expect(batches.map(({ records }) => records.length)).toEqual([BATCH_SIZE]);
  it.flush();
  it.flush();
  expect(batches.map(({ records }) => records.length)).toEqual([BATCH_SIZE, 1]);
  expect(it.sent).toBe(2);
  expect(batches[0]).not.toHaveProperty('timestamps');
});

property.prop([fc.array(fc.record({ time: fc.option(fc.nat(), { nil: undefined }), isFlush: fc.boolean() }))])(
  'keeps a timestamp with its record, and the others without one, in whatever order they come',
  (steps) => {
    const { it, batches } = buffer<number>();
    for (const [i, { time, isFlush }] of steps.entries()) {
      if (time === undefined && i % 2 === 0) it.push(i);
      else it.pushAt(i, time);
      if (isFlush) it.flush();
    }
    it.flush();
    const times = batches.flatMap(({ records, timestamps }) =>
      records.map((i) => [i, timestamps?.[i - (records[0] ?? 0)]]),
    );
    expect(times.map(([i]) => i)).toEqual([...steps.keys()]);
    for (const { records, timestamps } of batches) expect(timestamps?.length ?? records.length).toBe(records.length);
    for (const [i, time] of times) {
      const expected = steps[i as number]?.time;
      if (expected === undefined) expect([undefined, Number.NEGATIVE_INFINITY]).toContain(time);
      else expect(time).toBe(expected);
    }
  },
);
