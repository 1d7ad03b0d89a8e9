import type { CheckpointLocation } from '../contracts/checkpoint-storage.js';
import type { Serializer } from '../contracts/serializer.js';
import type { OperatorStateHandle, OperatorStateMode, OperatorStateShare } from '../contracts/snapshot.js';
import { isWellFormed } from '../element/well-formed.js';
import { WeirError } from '../errors.js';
import type { CapturedOperatorState } from '../operator/operator.js';
import { decodeValues, encodeValues, writeBlob } from './stored-values.js';
import type { EncodedValues } from './stored-values.js';

export interface EncodedOperatorState extends EncodedValues {
  readonly name: string;
  readonly mode: OperatorStateMode;
}

/** From here on the captured values may change. */
export function encodeOperatorState(state: CapturedOperatorState): EncodedOperatorState {
  if (state.name === '' || !isWellFormed(state.name))
    throw new WeirError(
      'PROTOCOL_VIOLATION',
      `Operator state was captured under the name ${JSON.stringify(state.name)}, which is empty or no valid Unicode: it could not be told from another one.`,
      { recoverable: false },
    );
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

/** The values of the share. `bytes` is all that `handle.blob` stands for; `what` names them in messages. Fails as `decodeValues`. */
export function readOperatorState(
  handle: OperatorStateShare,
  bytes: Uint8Array,
  serializer: Serializer,
  what: string,
): unknown[] {
  const values = decodeValues({ serializer: handle.serializer, count: handle.count, bytes }, serializer, what);
  return handle.share === undefined ? values : values.slice(handle.share.from, handle.share.to);
}
