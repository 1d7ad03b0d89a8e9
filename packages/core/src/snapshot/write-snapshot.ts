import type { CheckpointLocation } from '../contracts/checkpoint-storage.js';
import type {
  BlobHandle,
  ChannelStateHandle,
  KeyGroupRange,
  KeyedStateHandle,
  OperatorSnapshot,
  SubtaskSnapshot,
} from '../contracts/snapshot.js';
import type { KeyedCapture, KeyedStateOutput, Slice } from '../contracts/state-backend.js';
import { FINAL_WATERMARK } from '../element/element.js';
import type { KeyGroup, SubtaskId } from '../element/ids.js';
import { writeChannelState, type EncodedChannelState } from './channel-state.js';
import { writeCommittables } from './committables.js';
import type { EncodedCapture } from './encode-capture.js';
import { KeyedSectionWriter } from './keyed-section-writer.js';
import { writeOperatorState } from './operator-state.js';

export interface WriteSnapshotOptions {
  readonly subtask: SubtaskId;
  readonly keyGroups: KeyGroupRange;
  readonly parts: readonly EncodedCapture[];
  /** What was in flight to the head operator, once that is known. Absent for a checkpoint whose barrier has overtaken nothing here. */
  readonly inFlight?: (() => Promise<readonly EncodedChannelState[]>) | undefined;
  /** What went round behind the barrier. */
  readonly loop?: readonly EncodedChannelState[] | undefined;
  readonly location: Pick<CheckpointLocation, 'createBlob'>;
  readonly slice: Slice;
}

/**
 * The asynchronous phase: writes a subtask's captures to checkpoint storage, durable when it settles. Every keyed capture is released, also when
 * writing fails or is given up.
 */
export async function writeSnapshot(
  options: WriteSnapshotOptions,
): Promise<{ readonly snapshot: SubtaskSnapshot; readonly stateBytes: number }> {
  const unreleased = new Set(options.parts.flatMap(({ keyed }) => (keyed === undefined ? [] : [keyed])));
  const operators: OperatorSnapshot[] = [];
  try {
    for (const part of options.parts) {
      const keyed = part.keyed === undefined ? undefined : await writeKeyed(part.keyed, part.watermark, options);
      if (part.keyed !== undefined) {
        unreleased.delete(part.keyed);
        part.keyed.release();
      }
      const operator = await Promise.all(part.operator.map((state) => writeOperatorState(state, options.location)));
      const committables =
        part.committables === undefined ? undefined : await writeCommittables(part.committables, options.location);
      operators.push({ uid: part.uid, keyed: keyed === undefined ? [] : [keyed], operator, committables });
    }
  } finally {
    for (const keyed of unreleased) keyed.release();
  }
  for (const encoded of [...((await options.inFlight?.()) ?? []), ...(options.loop ?? [])])
    addChannel(operators, await writeChannelState(encoded, options.location));
  const stateBytes = operators.flatMap(blobsOf).reduce((sum, blob) => sum + sizeOf(blob), 0);
  return { snapshot: { subtask: options.subtask, operators }, stateBytes };
}

/** In-flight input belongs to the operator that it goes to, whether or not that has state of its own. */
function addChannel(operators: OperatorSnapshot[], channel: ChannelStateHandle): void {
  const { consumer } = channel.edge;
  const at = operators.findIndex(({ uid }) => uid === consumer);
  const head = operators[at] ?? { uid: consumer, keyed: [], operator: [] };
  operators.splice(at === -1 ? operators.length : at, 1, { ...head, channels: [...(head.channels ?? []), channel] });
}

async function writeKeyed(
  capture: KeyedCapture,
  watermark: number | undefined,
  { keyGroups, location, slice }: WriteSnapshotOptions,
): Promise<KeyedStateHandle | undefined> {
  const writer = new KeyedSectionWriter({
    range: keyGroups,
    watermark,
    createBlob: () => location.createBlob(),
  });
  const marked = watermark === undefined || watermark === FINAL_WATERMARK.time ? undefined : marking(writer, keyGroups);
  try {
    await slice.next();
    await capture.write(marked ?? writer, slice);
    await marked?.end();
    return await writer.finish();
  } catch (error) {
    await writer.abort();
    throw error;
  }
}

/**
 * Notes the watermark in every key group, also in those without state: what a key has forgotten is late all the same when it comes again. Event time
 * that has ended is not worth it, since nobody goes by it after a restore.
 */
function marking(writer: KeyedSectionWriter, { first, last }: KeyGroupRange): MarkedOutput {
  let next = first;
  const markTo = (end: KeyGroup): void | Promise<void> => {
    const from = next;
    next = Math.max(next, end + 1);
    return writer.marks(from, end);
  };
  return {
    section(section) {
      if (section.count === 0) return undefined;
      const taken = markTo(section.keyGroup - 1);
      next = Math.max(next, section.keyGroup + 1);
      return taken === undefined ? writer.section(section) : taken.then(() => writer.section(section));
    },
    end: () => markTo(last),
  };
}
interface MarkedOutput extends KeyedStateOutput {
  end(): void | Promise<void>;
}

function blobsOf({ keyed, operator, committables, channels = [] }: OperatorSnapshot): BlobHandle[] {
  const others = committables === undefined ? [] : [committables];
  return [...keyed, ...operator, ...others, ...channels].map(({ blob }) => blob);
}

function sizeOf(blob: BlobHandle): number {
  return blob.kind === 'inline' ? blob.bytes.length : blob.length;
}
