import { grouped } from '../element/grouped.js';
import type { StageId } from '../element/ids.js';
import type { Plan, PlannedEdge } from '../graph/plan.js';

/** A subtask whose work may send records round a loop. */
export interface LoopMember {
  /** It holds nothing, nothing is on its way to it from within the loop, and what comes from outside has ended. */
  isQuiet(loop: ReadonlySet<StageId>): boolean;
  /** Of a head: nothing goes round any more, but for what is called at times that no record will come before. */
  endTime(): void;
  /** Of a head: nothing goes round any more, and nothing will. */
  endLoop(): void;
}

/**
 * Says when the loop of a finite job is over: every input from outside has ended, and no record is in any channel, queue or operator of it.
 *
 * All subtasks of the embedded host run on one thread, one at a time, so a look at them between two runs is a consistent picture of the loop: what
 * is nowhere cannot appear any more, since records only come of records. The look is taken whenever a member has nothing left to do; the last one
 * to fall silent finds everything still.
 */
export class LoopEnd {
  readonly #stages: ReadonlySet<StageId>;
  /** Heads first, for as long as their input goes on they answer the question. */
  readonly #members: readonly LoopMember[];
  readonly #heads: readonly LoopMember[];
  #next: 'time' | 'data' | 'over' = 'time';

  constructor(stages: ReadonlySet<StageId>, heads: readonly LoopMember[], others: readonly LoopMember[]) {
    this.#stages = stages;
    this.#heads = heads;
    this.#members = [...heads, ...others];
  }

  look(): void {
    if (this.#next === 'over' || !this.#members.every((member) => member.isQuiet(this.#stages))) return;
    // The last watermark may set something going again, so quiet is waited for twice.
    const isAtEnd = this.#next === 'data';
    this.#next = isAtEnd ? 'over' : 'data';
    for (const head of this.#heads) {
      if (isAtEnd) head.endLoop();
      else head.endTime();
    }
  }
}

/** The stages between the head of a loop and its feedback edges, both ends included. Loops inside of it are part of it. */
export function stagesOfLoop({ edges, feedback }: Plan, head: StageId): ReadonlySet<StageId> {
  const from = (edge: PlannedEdge): StageId => edge.from;
  const to = (edge: PlannedEdge): StageId => edge.to;
  const behind = closure([head], edges, from, to);
  const within = [...edges, ...feedback.filter((edge) => edge.to !== head && behind.has(edge.to))];
  const ends = feedback.filter((edge) => edge.to === head).map(from);
  const reached = closure([head], within, from, to);
  const reaching = closure(ends, within, to, from);
  return new Set([...reached].filter((stage) => reaching.has(stage)));
}

/** All stages that one gets to from `start`. */
function closure(
  start: readonly StageId[],
  edges: readonly PlannedEdge[],
  from: (edge: PlannedEdge) => StageId,
  to: (edge: PlannedEdge) => StageId,
): ReadonlySet<StageId> {
  const leaving = grouped(edges, from);
  const found = new Set(start);
  for (const stage of found) for (const edge of leaving.get(stage) ?? []) found.add(to(edge));
  return found;
}
