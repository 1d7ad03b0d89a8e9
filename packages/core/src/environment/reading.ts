/** What became of a value from outside: the value in weir's terms, or what is wrong with it ("must be at least 10 ms"). */
export type Reading<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: string };

export function accepted<T>(value: T): Reading<T> {
  return { ok: true, value };
}

export function refused(problem: string): Reading<never> {
  return { ok: false, problem };
}
