import type {
  BlobWriter,
  IncrementalOutput,
  KeyedCapture,
  KeyedStateOutput,
  KeyedStateStore,
  Slice,
  StateBackend,
  StoredBytes,
} from '@weir/core/contracts';
import { delegating } from '../delegating.js';
import type { Faults } from './faults.js';
import type { OutsideWork } from './outside-work.js';
import type { Watch } from './watch.js';

/** The same state, in subtasks that may fail wherever they use it. */
export function unreliableState(
  backend: StateBackend,
  faults: Faults,
  watch: Watch,
  outside: OutsideWork,
): StateBackend {
  return delegating(backend, {
    async open(scope) {
      const place = `operator ${scope.operator}`;
      faults.visit(`opening ${place}`);
      const store = await outside.run(() => backend.open(scope));
      const closed = watch.leftOpen.opened('keyed stores');
      const gone = outside.opened(() => store.close());
      return delegating<KeyedStateStore>(store, {
        async close() {
          closed();
          gone();
          await outside.run(() => store.close());
        },
        setCurrentKey(key, position) {
          faults.visit(place);
          store.setCurrentKey(key, position);
        },
        restore(section) {
          faults.visit(`restoring ${place}`);
          store.restore(section);
        },
        ...(store.restoreNative === undefined
          ? {}
          : {
              async restoreNative(state, stored) {
                faults.visit(`restoring ${place}`);
                await outside.run(() => store.restoreNative?.(state, simulatedBytes(stored, outside)));
              },
            }),
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
              await outside.run(() => capture.write(simulatedOutput(out, outside), simulatedSlice(slice, outside)));
            },
          });
        },
      });
    },
  });
}

// What a store is given is simulated: while it waits for it, the simulation has to go on.

function simulatedSlice(slice: Slice, outside: OutsideWork): Slice {
  return { isOver: () => slice.isOver(), next: () => outside.pause(slice.next()) };
}

function simulatedOutput(out: KeyedStateOutput, outside: OutsideWork): KeyedStateOutput {
  return {
    section: (section) => paused(out.section(section), outside),
    incremental: out.incremental === undefined ? undefined : simulatedIncrement(out.incremental, outside),
  };
}

function simulatedIncrement(out: IncrementalOutput, outside: OutsideWork): IncrementalOutput {
  return delegating(out, {
    createBlob(sharedKey) {
      const blob = out.createBlob(sharedKey);
      return delegating<BlobWriter>(blob, {
        write: (chunk) => paused(blob.write(chunk), outside),
        finish: () => outside.pause(blob.finish()),
        abort: () => outside.pause(blob.abort()),
      });
    },
  });
}

function simulatedBytes(stored: StoredBytes, outside: OutsideWork): StoredBytes {
  return {
    async *open(blob) {
      const chunks = stored.open(blob)[Symbol.asyncIterator]();
      for (;;) {
        const next = await outside.pause(chunks.next());
        if (next.done === true) return;
        yield next.value;
      }
    },
  };
}

function paused(waiting: void | Promise<void>, outside: OutsideWork): void | Promise<void> {
  return waiting === undefined ? undefined : outside.pause(waiting);
}
