import type { Clock } from '../contracts/clock.js';
import { declaredStates } from '../graph/declared-states.js';
import type { PlannedOperator } from '../graph/plan.js';
import type { RestoredState } from '../operator/operator.js';
import { storedNames } from '../operator/stored-names.js';

/** CHECKPOINT_INCOMPATIBLE for state that the operator is known not to read: that of another one which had its uid. */
export function refuseUnreadState(planned: PlannedOperator, state: RestoredState, clock: Clock): void {
  const { keyed, operator } = declaredStates(planned, clock);
  if (keyed !== undefined) state.baseFor(keyed);
  if (operator !== undefined) storedNames(planned, operator, state);
}
