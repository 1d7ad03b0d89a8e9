import { createMemoryStateBackend } from '@weir/backend-memory';
import { stateBackendSuite } from '@weir/testkit';
import { describe, test } from 'vitest';

const preservedBytes = 100_000;

describe('memory state', () => {
  stateBackendSuite(test, {
    create: () => createMemoryStateBackend({ preservedBytes }),
    pressedAbove: preservedBytes,
  });
});
