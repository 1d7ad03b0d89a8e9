import { sourceSuite } from '@weir/testkit';
import { describe, test } from 'vitest';
import { pagedSource } from '../../examples/plugins/paged-source.js';

const lists: Readonly<Record<string, readonly (readonly string[])[]>> = {
  berries: [['currant', 'elder', 'sloe'], [], ['whort']],
  stones: [['plum'], ['cherry', 'peach']],
  empty: [],
};

describe('paged source', () => {
  sourceSuite(test, {
    capabilities: { grade: 'replayable', bounded: true },
    create: () => ({
      source: () => pagedSource({ lists: Object.keys(lists), fetchPage: async (list, page) => lists[list]?.[page] }),
      expected: { berries: ['currant', 'elder', 'sloe', 'whort'], stones: ['plum', 'cherry', 'peach'], empty: [] },
      gone: { splitId: 'stones', position: { page: 1, taken: 3 } },
    }),
  });
});
