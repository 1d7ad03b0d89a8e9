import { sinkSuite } from '@weir/testkit';
import { describe, expect, test } from 'vitest';
import { collected } from '../../src/collection/index.js';

describe('a collected sink', () => {
  sinkSuite(test, {
    capabilities: { grade: 'exactly-once' },
    create() {
      const out = collected<{ n: number }>();
      return { sink: () => out.sink, record: (n) => ({ n }), visible: () => out.records };
    },
  });
});

test('several sinks have their own records', () => {
  expect(collected<number>().records).not.toBe(collected<number>().records);
});
