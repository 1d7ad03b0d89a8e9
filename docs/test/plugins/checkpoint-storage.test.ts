import { checkpointStorageSuite } from '@weir/testkit';
import { describe, test } from 'vitest';
import { mapStorage } from '../../examples/plugins/map-storage.js';

describe('map storage', () => {
  checkpointStorageSuite(test, {
    capabilities: { durable: false, locks: false },
    create: () => ({ storage: mapStorage() }),
  });
});
