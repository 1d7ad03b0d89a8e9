/** The first of `names` that `value` has no method of; undefined: it has all. */
export function missingMethod<N extends string>(value: unknown, names: readonly N[]): N | undefined {
  if (typeof value !== 'object' || value === null) return names[0];
  return names.find((name) => typeof Reflect.get(value, name) !== 'function');
}
