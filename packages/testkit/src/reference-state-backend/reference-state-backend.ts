import { StateBackendRole, type Plugin, type StateBackend } from '@weir/core/contracts';
import { ReferenceStore } from './reference-store.js';

/**
 * The simplest honest state backend, for tests: plain Maps, and a capture encodes everything at once. So capturing costs O(n) in the size of the
 * state, which the contract forbids for real use. A model to compare others with.
 */
export function createReferenceStateBackend(): StateBackend {
  return {
    type: 'reference',
    capabilities: { keepsIdentity: true },
    open: (scope) => new ReferenceStore(scope),
  };
}

/** {@link createReferenceStateBackend} as a plugin, for jobs in tests. */
export function referenceStateBackend(): Plugin {
  return {
    name: '@weir/testkit/reference-state-backend',
    install(binder) {
      binder.provide(StateBackendRole, 'reference', createReferenceStateBackend);
    },
  };
}
