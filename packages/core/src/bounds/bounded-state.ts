import type { BlobHandle } from '../contracts/snapshot.js';
import type {
  IncrementalOutput,
  KeyedCapture,
  KeyedStateOutput,
  KeyedStateStore,
  StoredBytes,
} from '../contracts/state-backend.js';
import type { OperatorUid } from '../element/ids.js';
import type { CallBounds } from './bounded-calls.js';

/** The operator whose state it is. */
export interface StateOwner {
  readonly uid: OperatorUid;
  readonly calls?: CallBounds | undefined;
}

// A store itself is not wrapped: its handles are on the way of every record.

/** Whatever it writes is progress; and for as long as it waits to be given something, it is not the state that hangs. */
export function writtenInTime(capture: KeyedCapture, { uid, calls }: StateOwner): KeyedCapture {
  if (calls === undefined) return capture;
  return {
    sections: capture.sections,
    write(out, slice) {
      let steps = 0;
      let waits = 0;
      const moved: Moved = (answer) => {
        steps++;
        if (answer === undefined) return undefined;
        waits++;
        return answer.finally(() => {
          waits--;
        });
      };
      const watched: KeyedStateOutput = {
        section: (section) => moved(out.section(section) ?? undefined),
        incremental: out.incremental === undefined ? undefined : watchedIncrement(out.incremental, moved),
      };
      const next = async (): Promise<void> => moved(slice.next());
      return calls.run(
        'state.write',
        nameOf(uid),
        () => capture.write(watched, { isOver: () => slice.isOver(), next }),
        {
          progress: () => (waits > 0 ? {} : steps),
        },
      );
    },
    written: (handles) => capture.written?.(handles),
    release: () => {
      capture.release();
    },
  };
}

type Moved = <R>(answer: Promise<R> | undefined) => Promise<R> | undefined;

function watchedIncrement(out: IncrementalOutput, moved: Moved): IncrementalOutput {
  return {
    watermark: out.watermark,
    add: (handle) => {
      void moved(undefined);
      out.add(handle);
    },
    createBlob(sharedKey) {
      const blob = out.createBlob(sharedKey);
      return {
        write: (chunk) => moved(blob.write(chunk) ?? undefined),
        finish: async () => moved(blob.finish()) as Promise<BlobHandle>,
        abort: () => blob.abort(),
      };
    },
  };
}

/** Each piece that is read is progress. */
export function restoreNativeInTime(
  restore: (stored: StoredBytes) => Promise<void>,
  stored: StoredBytes,
  { uid, calls }: StateOwner,
): Promise<void> {
  if (calls === undefined) return restore(stored);
  let pieces = 0;
  const watched: StoredBytes = {
    async *open(blob) {
      for await (const piece of stored.open(blob)) {
        pieces++;
        yield piece;
      }
    },
  };
  return calls.run('state.restoreNative', nameOf(uid), () => restore(watched), {
    progress: () => pieces,
  });
}

export async function closeInTime(store: KeyedStateStore, { uid, calls }: StateOwner): Promise<void> {
  await (calls === undefined ? store.close() : calls.run('state.close', nameOf(uid), () => store.close()));
}

export function nameOf(uid: OperatorUid): string {
  return `state of operator ${uid}`;
}
