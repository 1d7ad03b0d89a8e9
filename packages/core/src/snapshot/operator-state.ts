import type { CheckpointLocation } from '../contracts/checkpoint-storage.js';
import type { Serializer } from '../contracts/serializer.js';
import type { OperatorStateHandle, OperatorStateMode } from '../contracts/snapshot.js';
import type { CapturedOperatorState } from '../operator/operator.js';
import { decodeValues, encodeValues, writeBlob } from './stored-values.js';
import type { EncodedValues } from './stored-values.js';

export interface EncodedOperatorState extends EncodedValues {
  readonly name: string;
  readonly mode: OperatorStateMode;
}

/** From here on the captured values may change. */
export function encodeOperatorState(state: CapturedOperatorState): EncodedOperatorState {
  return { name: state.name, mode: state.mode, ...encodeValues(state.values, state.serializer) };
}

/** Durable when settled. */
export async function writeOperatorState(
  state: EncodedOperatorState,
  location: Pick<CheckpointLocation, 'createBlob'>,
): Promise<OperatorStateHandle> {
  const { name, mode, serializer, count } = state;
  return { name, mode, serializer, count, blob: await writeBlob(state.bytes, location) };
}

/** `bytes` is what `handle.blob` stands for; `what` names them in messages. Fails as `decodeValues`. */
export function readOperatorState(
  handle: OperatorStateHandle,
  bytes: Uint8Array,
  serializer: Serializer,
  what: string,
): unknown[] {
  return decodeValues({ serializer: handle.serializer, count: handle.count, bytes }, serializer, what);
}
