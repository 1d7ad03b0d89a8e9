import type { KeyedCapture, KeyedStateStore, StateBackend } from '@weir/core/contracts';
import { delegating } from '../delegating.js';
import type { Faults } from './faults.js';
import type { Watch } from './watch.js';

/** The same state, in subtasks that may fail wherever they use it. */
export function unreliableState(backend: StateBackend, faults: Faults, watch: Watch): StateBackend {
  return delegating(backend, {
    async open(scope) {
      const place = `operator ${scope.operator}`;
      faults.visit(`opening ${place}`);
      const store = await backend.open(scope);
      const closed = watch.leftOpen.opened('keyed stores');
      return delegating<KeyedStateStore>(store, {
        async close() {
          closed();
          await store.close();
        },
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
          const released = watch.leftOpen.opened('captures');
          return delegating<KeyedCapture>(capture, {
            release() {
              released();
              capture.release();
            },
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
