import type { KeyedCapture } from '../contracts/state-backend.js';
import type { OperatorUid } from '../element/ids.js';
import type { KeyType } from '../element/key-type.js';
import type { OperatorCapture } from '../operator/operator.js';
import { encodeCommittables, type EncodedCommittables } from './committables.js';
import { encodeOperatorState, type EncodedOperatorState } from './operator-state.js';

/** One operator's part of a capture, out of reach of user code. */
export interface EncodedCapture {
  readonly uid: OperatorUid;
  readonly keyed: KeyedCapture | undefined;
  readonly keyTypes: readonly KeyType[] | undefined;
  readonly watermark: number | undefined;
  readonly operator: readonly EncodedOperatorState[];
  readonly committables: EncodedCommittables | undefined;
}

/** Encodes what is not yet: positions, operator state and committables are small. Keyed state is captured by its backend. */
export function encodeCapture(
  uid: OperatorUid,
  { keyed, keyTypes, watermark, operatorState, committables }: OperatorCapture,
): EncodedCapture {
  return {
    uid,
    keyed,
    keyTypes,
    watermark,
    operator: (operatorState ?? []).filter(({ values }) => values.length > 0).map(encodeOperatorState),
    committables:
      committables === undefined || committables.values.length === 0 ? undefined : encodeCommittables(committables),
  };
}
