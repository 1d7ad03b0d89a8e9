import type { KeyedCapture, KeyedStateStore, StateBackend } from '@weir/core/contracts';
import { delegating } from './delegating.js';
import type { Faults } from './faults.js';

/** The same state, in subtasks that may fail wherever they use it. */
export function unreliableState(backend: StateBackend, faults: Faults): StateBackend {
  return delegating(backend, {
    async open(scope) {
      const place = `operator ${scope.operator}`;
      faults.visit(`opening ${place}`);
      const store = await backend.open(scope);
      return delegating<KeyedStateStore>(store, {
        setCurrentKey(key, position) {
          faults.visit(place);
          store.setCurrentKey(key, position);
        },
        restore(section) {
          faults.visit(`restoring ${place}`);
          store.restore(section);
        },
        capture(request) {
          faults.visit(`capturing ${place}`);
          const capture = store.capture(request);
          return delegating<KeyedCapture>(capture, {
            async write(out, slice) {
              faults.visit(`writing ${place}`);
              await capture.write(out, slice);
            },
          });
        },
      });
    },
  });
}
