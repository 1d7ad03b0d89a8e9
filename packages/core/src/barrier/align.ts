import type { Observable } from 'rxjs';
import type { StreamElement } from '../element/element.js';
import { WeirError } from '../errors.js';
import { carry } from './carry.js';
import type { RecordOf } from './carry.js';

export interface AlignOptions {
  /** Records that may be held back at once, over all channels that wait for the others' barrier. Plain Observables can not be paused. */
  readonly maxBlocked: number;
}

/**
 * Merges channels so that a barrier divides the output exactly as it divides every input (exactly-once): what a channel sends after its
 * barrier is held back until all have delivered theirs, and follows the one merged barrier. A checkpoint that cannot complete leaves one
 * cancel marker instead. Errors with BUFFER_OVERFLOW beyond `maxBlocked`. In a running job channels are paused instead.
 */
export function align<C extends Observable<StreamElement<unknown>>>(
  channels: readonly C[],
  options: AlignOptions,
): Observable<StreamElement<RecordOf<C>>> {
  const { maxBlocked } = options;
  if (!(maxBlocked >= 0)) {
    throw new WeirError('CONFIG_INVALID', `align needs a maxBlocked of at least 0 records, not ${maxBlocked}.`);
  }
  // Each C is an Observable of elements of its own RecordOf<C>, which TypeScript does not conclude for a generic C.
  return carry(channels as unknown as readonly Observable<StreamElement<RecordOf<C>>>[], 'aligned', maxBlocked);
}
