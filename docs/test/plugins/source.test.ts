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
    create() {
      let state: 'works' | 'fails' | 'hangs' = 'works';
      const fetchPage = async (
        list: string,
        page: number,
        signal: AbortSignal,
      ): Promise<readonly string[] | undefined> => {
        if (state === 'fails') throw new Error('503');
        if (state === 'hangs') await new Promise((_, reject) => signal.addEventListener('abort', reject));
        return lists[list]?.[page];
      };
      return {
        source: () => pagedSource({ lists: Object.keys(lists), fetchPage }),
        expected: { berries: ['currant', 'elder', 'sloe', 'whort'], stones: ['plum', 'cherry', 'peach'], empty: [] },
        gone: { splitId: 'stones', position: { page: 1, taken: 3 } },
        outside: {
          fail: () => (state = 'fails'),
          hang: () => (state = 'hangs'),
          work: () => (state = 'works'),
        },
      };
    },
  });
});
