import type { Observable } from 'rxjs';
import type { StreamElement } from '../element/element.js';
import { carry } from './carry.js';
import type { RecordOf } from './carry.js';

/**
 * Merges channels without ever holding a record back, and emits a barrier once all channels have delivered it (at-least-once): records
 * that a fast channel sent after its barrier come before the merged one, and would be read again after a restore.
 */
export function track<C extends Observable<StreamElement<unknown>>>(
  channels: readonly C[],
): Observable<StreamElement<RecordOf<C>>> {
  // See align about the type. Nothing is blocked in this mode, so nothing can be held.
  return carry(channels as unknown as readonly Observable<StreamElement<RecordOf<C>>>[], 'counting', 0);
}
