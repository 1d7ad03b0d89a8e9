/** Deals things that cannot be divided, each to exactly one of `parallelism` receivers; `given[i]` has those of old subtask i, which go to `i mod parallelism`. */
export function dealWhole<T>(given: readonly (readonly T[])[], parallelism: number): readonly (readonly T[])[] {
  const dealt = Array.from({ length: parallelism }, (): T[] => []);
  for (const [index, things] of given.entries()) dealt[index % parallelism]?.push(...things);
  return dealt;
}
