import type { CheckpointLocation } from '../contracts/checkpoint-storage.js';
import { isEmptySnapshot } from '../contracts/stored-parts.js';
import type {
  BlobHandle,
  ChannelStateHandle,
  KeyedStateHandle,
  KeyGroupRange,
  OperatorSnapshot,
  SubtaskSnapshot,
} from '../contracts/snapshot.js';
import type { KeyedCapture, Slice } from '../contracts/state-backend.js';
import type { AttemptNumber, CheckpointId, OperatorUid, SubtaskId } from '../element/ids.js';
import { blobsOfKeyed } from './blobs-of-keyed.js';
import { writeChannelState, type EncodedChannelState } from './channel-state.js';
import { writeCommittables } from './committables.js';
import type { EncodedCapture } from './encode-capture.js';
import { KeyedOutput, sizeOf, type KeyedOutputResult } from './keyed-output.js';
import { writeOperatorState } from './operator-state.js';

export interface WriteSnapshotOptions {
  readonly subtask: SubtaskId;
  readonly attempt: AttemptNumber;
  readonly checkpointId: CheckpointId;
  readonly keyGroups: KeyGroupRange;
  readonly parts: readonly EncodedCapture[];
  /** What was in flight to the head operator, once that is known. Absent for a checkpoint whose barrier has overtaken nothing here. */
  readonly inFlight?: (() => Promise<readonly EncodedChannelState[]>) | undefined;
  /** What went round behind the barrier. */
  readonly loop?: readonly EncodedChannelState[] | undefined;
  readonly location: Pick<CheckpointLocation, 'createBlob' | 'createSharedBlob'>;
  /** Where keyed state goes. Absent: with the rest. */
  readonly keyedLocation?: WriteSnapshotOptions['location'] | undefined;
  readonly slice: Slice;
}

export interface WrittenSnapshot {
  readonly snapshot: SubtaskSnapshot;
  readonly stateBytes: number;
  /** Without what earlier checkpoints have written. */
  readonly writtenBytes: number;
}

/**
 * The asynchronous phase: writes a subtask's captures to checkpoint storage, durable when it settles. Every keyed capture is released, also when
 * writing fails or is given up.
 */
export async function writeSnapshot(options: WriteSnapshotOptions): Promise<WrittenSnapshot> {
  const unreleased = new Set(options.parts.flatMap(({ keyed }) => (keyed === undefined ? [] : [keyed])));
  const operators: OperatorSnapshot[] = [];
  let reusedBytes = 0;
  try {
    for (const part of options.parts) {
      let keyed: readonly KeyedStateHandle[] = [];
      if (part.keyed !== undefined) {
        const { handles, writtenBytes } = await writeKeyed(part.uid, part.keyed, part.watermark, options);
        keyed = handles;
        reusedBytes += bytesOf(handles.flatMap(blobsOfKeyed)) - writtenBytes;
        unreleased.delete(part.keyed);
        part.keyed.release();
      }
      const operator = await Promise.all(part.operator.map((state) => writeOperatorState(state, options.location)));
      const committables =
        part.committables === undefined ? undefined : await writeCommittables(part.committables, options.location);
      const snapshot = {
        uid: part.uid,
        keyed,
        ...(keyed.length > 0 && part.keyTypes !== undefined && { keyTypes: part.keyTypes }),
        operator,
        committables,
      };
      // Whoever has nothing stored may change or go as if it had never kept anything.
      if (!isEmptySnapshot(snapshot)) operators.push(snapshot);
    }
  } finally {
    for (const keyed of unreleased) keyed.release();
  }
  for (const encoded of [...((await options.inFlight?.()) ?? []), ...(options.loop ?? [])])
    addChannel(operators, await writeChannelState(encoded, options.location));
  const stateBytes = bytesOf(operators.flatMap(blobsOf));
  return { snapshot: { subtask: options.subtask, operators }, stateBytes, writtenBytes: stateBytes - reusedBytes };
}

/** In-flight input belongs to the operator that it goes to, whether or not that has state of its own. */
function addChannel(operators: OperatorSnapshot[], channel: ChannelStateHandle): void {
  const { consumer } = channel.edge;
  const at = operators.findIndex(({ uid }) => uid === consumer);
  const head = operators[at] ?? { uid: consumer, keyed: [], operator: [] };
  operators.splice(at === -1 ? operators.length : at, 1, { ...head, channels: [...(head.channels ?? []), channel] });
}

async function writeKeyed(
  uid: OperatorUid,
  capture: KeyedCapture,
  watermark: number | undefined,
  { subtask, attempt, checkpointId, keyGroups, location, keyedLocation = location, slice }: WriteSnapshotOptions,
): Promise<KeyedOutputResult> {
  const output = new KeyedOutput({
    range: keyGroups,
    watermark,
    sections: capture.sections ?? 'private',
    sharedKey: `${uid}/${String(subtask.index)}/${String(attempt)}-${String(checkpointId)}`,
    location: keyedLocation,
  });
  try {
    await slice.next();
    await capture.write(output, slice);
    const result = await output.finish();
    capture.written?.(result.handles);
    return result;
  } catch (error) {
    await output.abort();
    throw error;
  }
}

function bytesOf(blobs: readonly BlobHandle[]): number {
  return blobs.reduce((sum, blob) => sum + sizeOf(blob), 0);
}

function blobsOf({ keyed, operator, committables, channels = [] }: OperatorSnapshot): BlobHandle[] {
  const others = committables === undefined ? [] : [committables];
  return [...keyed.flatMap(blobsOfKeyed), ...[...operator, ...others, ...channels].map(({ blob }) => blob)];
}
