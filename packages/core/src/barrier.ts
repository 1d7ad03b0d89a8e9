// The algorithm alone: barriers over plain Observables of elements, without jobs, state or plugins.
export { alignment, isBlocked, pendingId, step } from './barrier/alignment.js';
export type {
  AlignmentAction,
  AlignmentInput,
  AlignmentMode,
  AlignmentOptions,
  AlignmentState,
  Transition,
} from './barrier/alignment.js';
