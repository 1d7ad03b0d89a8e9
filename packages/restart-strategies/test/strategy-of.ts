import type { Plugin, RestartDecision, RestartStrategy } from '@weir/core/contracts';

/** What a plugin provides as restart strategy. */
export function strategyOf(plugin: Plugin): RestartStrategy {
  const created: unknown[] = [];
  plugin.install({
    provide: (_role, _type, create) => {
      created.push(
        create({
          get() {
            throw new Error('a restart strategy needs no other service');
          },
        }),
      );
    },
  });
  return created[0] as RestartStrategy;
}

/** What a strategy answers to failures at these times. */
export function decisionsOf<S>(strategy: RestartStrategy<S>, times: readonly number[]): readonly RestartDecision[] {
  let state = strategy.initial();
  return times.map((now) => {
    const [next, decision] = strategy.decide(state, new Error('boom'), { now, random: () => 0.5, progressed: true });
    state = next;
    return decision;
  });
}

export const restartsOf = <S>(strategy: RestartStrategy<S>, times: readonly number[]): readonly boolean[] =>
  decisionsOf(strategy, times).map(({ restart }) => restart);
