/** The same object but for some methods; all others, also those that a later contract adds, run on the original. */
export function delegating<T extends object>(target: T, instead: Partial<T>): T {
  return new Proxy(target, {
    get(original, property) {
      const replaced = Reflect.get(instead, property) as unknown;
      if (replaced !== undefined) return replaced;
      const value = Reflect.get(original, property, original) as unknown;
      // Bound, because private fields are the original's.
      return typeof value === 'function' ? (value.bind(original) as unknown) : value;
    },
    set: (original, property, value) => Reflect.set(original, property, value, original),
  });
}
