import { createMemoryStorage } from '@weir/backend-memory';
import { checkpointStorageSuite } from '@weir/testkit';
import { describe, test } from 'vitest';

describe('memory storage', () => {
  checkpointStorageSuite(test, {
    capabilities: { durable: false, locks: false, savepoints: true, sharedFiles: true },
    create: () => ({ storage: createMemoryStorage(), savepoints: { directory: 'mine' } }),
  });
});
