import type { Serializer } from '../contracts/serializer.js';
import type { OperatorStateMode } from '../contracts/snapshot.js';
import type { OperatorUid } from '../element/ids.js';
import type { Key } from '../element/key.js';
import type { StoredTimer } from './operator-reader.js';

/** Gone through once. */
export type Rows<E> = Iterable<E> | AsyncIterable<E>;

/** What a state by key shall hold. Of two values for one key the later counts; lists of one key are joined. */
export type StateData =
  | {
      readonly kind: 'value' | 'reducing' | 'aggregating';
      /** Of reducing state what the values were reduced to, of aggregating state the accumulator. */
      readonly entries: Rows<{ readonly key: Key; readonly value: unknown }>;
      readonly serializer?: Serializer | undefined;
    }
  | {
      readonly kind: 'list';
      readonly entries: Rows<{ readonly key: Key; readonly values: readonly unknown[] }>;
      readonly serializer?: Serializer | undefined;
    }
  | {
      readonly kind: 'map';
      readonly entries: Rows<{ readonly key: Key; readonly mapKey: Key; readonly value: unknown }>;
      readonly serializer?: Serializer | undefined;
    };

export interface OperatorStateData {
  readonly mode: OperatorStateMode;
  /** Of broadcast state pairs of key and value. */
  readonly values: Rows<unknown>;
  readonly serializer?: Serializer | undefined;
}

/** State of one operator: of `keyedProcess` and the like by key, of `subtaskProcess` by its names. */
export interface OperatorData {
  readonly uid: OperatorUid;
  /** Number of key groups, which every operator of the job has to have. Default 128, as of a job that sets none. */
  readonly maxParallelism?: number | undefined;
  readonly states?: Readonly<Record<string, StateData>> | undefined;
  readonly timers?: Rows<StoredTimer<Key>> | undefined;
  /** Up to which event time the operator has seen everything. Default: it has seen none. */
  readonly watermark?: number | undefined;
  readonly operatorStates?: Readonly<Record<string, OperatorStateData>> | undefined;
}
