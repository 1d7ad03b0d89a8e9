import type { Clock } from '../contracts/clock.js';
import type { Serializer } from '../contracts/serializer.js';
import type { DeclaredStates } from '../operator/operator.js';
import { sinkStates } from '../operator/sink-operator.js';
import { sourceStates } from '../operator/source-states.js';
import { defaultSerializer } from '../state/default-serializer.js';
import type { Declared } from '../state/state-match.js';
import type { PlannedOperator } from './plan.js';

/** Everything that an operator of a plan reads of a checkpoint. Of one of somebody else's that does not say, keyed and operator state are absent. */
export interface PlannedStates extends DeclaredStates {
  /** What reads output that is left to commit; absent: there is no sink. */
  readonly committables?: Serializer | undefined;
  /** What reads the state of the split enumerator; absent: there is no source. */
  readonly enumerator?: Serializer | undefined;
  /** What reads records that went round; absent: there is no loop. */
  readonly loop?: Serializer | undefined;
}

const NONE: Declared<never> = { states: [], dropped: [] };

export function declaredStates({ uid, node }: PlannedOperator, clock: Clock): PlannedStates {
  switch (node.kind) {
    case 'source':
      return {
        keyed: NONE,
        operator: sourceStates(node.source),
        enumerator: node.source.serializer ?? defaultSerializer,
      };
    case 'sink':
      return {
        keyed: NONE,
        operator: sinkStates(node.sink),
        committables: node.sink.serializer ?? defaultSerializer,
      };
    case 'operator': {
      const { spec, loop } = node;
      const isKnown = spec.declares !== undefined || loop !== undefined || !spec.isStateful;
      return {
        ...(isKnown && { keyed: NONE, operator: NONE }),
        ...spec.declares?.(uid, clock),
        loop: loop?.serializer,
      };
    }
  }
}
