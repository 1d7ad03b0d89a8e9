import { sinkSuite } from '@weir/testkit';
import { describe, test } from 'vitest';
import { serviceSink, type BatchService } from '../../examples/plugins/service-sink.js';

describe('service sink', () => {
  sinkSuite(test, {
    capabilities: { grade: 'exactly-once' },
    create() {
      const batches = new Map<string, readonly number[]>();
      const service: BatchService<number> = {
        async put(name, records) {
          if (batches.has(name)) return 'known';
          batches.set(name, records);
          return 'taken';
        },
      };
      return {
        sink: () => serviceSink(service),
        record: (n) => n,
        visible: () => [...batches.values()].flat(),
      };
    },
  });
});
