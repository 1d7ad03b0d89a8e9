import {
  delegating,
  type BlobWriter,
  type IncrementalOutput,
  type KeyedCapture,
  type KeyedStateOutput,
  type KeyedStateStore,
  type Slice,
  type StateBackend,
  type StoredBytes,
} from '@weir/core/contracts';
import type { Faults } from './faults.js';
import type { OutsideWork, Work } from './outside-work.js';
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
      const store = await faults.call(`opening the state of ${place}`, () => outside.run(() => backend.open(scope)));
      const closed = watch.leftOpen.opened('keyed stores');
      const gone = outside.opened(() => store.close());
      return delegating<KeyedStateStore>(store, {
        async close() {
          closed();
          await faults.call(`closing the state of ${place}`, () => {
            gone();
            return outside.run(() => store.close());
          });
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
                await outside.run((work) => store.restoreNative?.(state, simulatedBytes(stored, work)));
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
              await faults.call(`writing the state of ${place}`, () =>
                outside.run((work) => capture.write(simulatedOutput(out, work), simulatedSlice(slice, work))),
              );
            },
          });
        },
      });
    },
  });
}

// What a store is given is simulated: while it waits for it, the simulation has to go on.

function simulatedSlice(slice: Slice, work: Work): Slice {
  return { isOver: () => slice.isOver(), next: () => work.pause(slice.next()) };
}

function simulatedOutput(out: KeyedStateOutput, work: Work): KeyedStateOutput {
  return {
    section: (section) => paused(out.section(section), work),
    incremental: out.incremental === undefined ? undefined : simulatedIncrement(out.incremental, work),
  };
}

function simulatedIncrement(out: IncrementalOutput, work: Work): IncrementalOutput {
  return delegating(out, {
    createBlob(sharedKey) {
      const blob = out.createBlob(sharedKey);
      return delegating<BlobWriter>(blob, {
        write: (chunk) => paused(blob.write(chunk), work),
        finish: () => work.pause(blob.finish()),
        abort: () => work.pause(blob.abort()),
      });
    },
  });
}

function simulatedBytes(stored: StoredBytes, work: Work): StoredBytes {
  return {
    open: (blob) => chunksOf(stored.open(blob), work.place(), work),
  };
}
async function* chunksOf(stored: AsyncIterable<Uint8Array>, place: number, work: Work): AsyncGenerator<Uint8Array> {
  const chunks = stored[Symbol.asyncIterator]();
  for (;;) {
    const next = await work.ask(place, () => chunks.next());
    if (next.done === true) return;
    yield next.value;
  }
}

function paused(waiting: void | Promise<void>, work: Work): void | Promise<void> {
  return waiting === undefined ? undefined : work.pause(waiting);
}
