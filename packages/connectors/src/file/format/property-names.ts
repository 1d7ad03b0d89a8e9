/** Names that a record cannot have: the first is no ordinary property of objects, and the default serializer of state keeps neither. */
const UNUSABLE: ReadonlySet<string> = new Set(['__proto__', '__keys__']);

/** True: a record with a property of this name could not be kept in state. */
export function unusableName(name: string): boolean {
  return UNUSABLE.has(name);
}
