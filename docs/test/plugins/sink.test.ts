import { CommitMarks } from '@weir/core/contracts';
import { sinkSuite } from '@weir/testkit';
import { describe, test } from 'vitest';
import { serviceSink, type BatchService } from '../../examples/plugins/service-sink.js';

describe('service sink', () => {
  sinkSuite(test, {
    capabilities: { grade: 'exactly-once' },
    create() {
      const batches = new Map<string, readonly number[]>();
      const marks = new CommitMarks();
      const service: BatchService<number> = {
        url: 'https://batches.example',
        id: () => Promise.resolve('cluster-7'),
        async put(name, records, mark) {
          if (batches.has(name)) return 'known';
          marks.add(mark);
          batches.set(name, records);
          return 'taken';
        },
        marks: () => Promise.resolve(marks.all),
      };
      return {
        sink: () => serviceSink(service),
        record: (n) => n,
        visible: () => [...batches.values()].flat(),
      };
    },
  });
});
