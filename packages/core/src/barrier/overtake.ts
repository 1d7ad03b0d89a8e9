import type { Observable } from 'rxjs';
import type { StreamElement } from '../element/element.js';
import { WeirError } from '../errors.js';
import { carry } from './carry.js';
import type { RecordOf } from './carry.js';
import type { InFlight } from './in-flight.js';

export interface OvertakeOptions<T> {
  /** Records that may be in flight at one checkpoint, over all channels. Those that a savepoint holds back have the same bound. */
  readonly maxBuffered: number;
  /** Takes what belongs to a checkpoint beside the state at its barrier, once all of it is known. */
  readonly inFlight: (inFlight: InFlight<T>) => void;
}

/**
 * Merges channels and emits a barrier as soon as the first of them delivers it (unaligned, exactly-once): nothing is held back, and what the
 * others send before theirs goes on too, as part of the checkpoint that `inFlight` is given. Barriers of savepoints, and those that an edge
 * has forced into line, are aligned as by `align`. Errors with BUFFER_OVERFLOW beyond `maxBuffered`.
 */
export function overtake<C extends Observable<StreamElement<unknown>>>(
  channels: readonly C[],
  options: OvertakeOptions<RecordOf<C>>,
): Observable<StreamElement<RecordOf<C>>> {
  const { maxBuffered, inFlight } = options;
  if (!(maxBuffered >= 0)) {
    throw new WeirError('CONFIG_INVALID', `overtake needs a maxBuffered of at least 0 records, not ${maxBuffered}.`);
  }
  // See align about the type.
  const sources = channels as unknown as readonly Observable<StreamElement<RecordOf<C>>>[];
  return carry(sources, 'unaligned', maxBuffered, inFlight);
}
