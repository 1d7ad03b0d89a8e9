import { createMemoryStateBackend } from '@weir/backend-memory';
import { stateBackendSuite } from '@weir/testkit';
import { describe, test } from 'vitest';

const preservedBytes = 100_000;

describe('memory state', () => {
  // Histories of checkpoints are restored again and again.
  stateBackendSuite((title, body) => test(title, body, 30_000), {
    create: () => createMemoryStateBackend({ preservedBytes }),
    pressedAbove: preservedBytes,
  });
});
