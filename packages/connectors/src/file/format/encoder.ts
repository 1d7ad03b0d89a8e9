import type { Awaitable } from '@weir/core/contracts';

/** How records become the bytes of a file. */
export interface Encoder<in T> {
  /** Without a dot: 'csv'. */
  readonly extension: string;
  /** Called once for each writer. */
  encoder(): Awaitable<StartFile<T>>;
}
/** Starts a file: what it returns encodes the batches of that file in order, each to whole records. */
export type StartFile<in T> = () => (records: readonly T[]) => Uint8Array;
