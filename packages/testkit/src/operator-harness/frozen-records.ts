const CHANGING: readonly (readonly [new () => object, readonly string[]])[] = [
  [Map, ['set', 'delete', 'clear']],
  [Set, ['add', 'delete', 'clear']],
  [Date, Object.getOwnPropertyNames(Date.prototype).filter((name) => name.startsWith('set'))],
];

/** Freezes records with everything in them, so that whoever changes a record that others also get is found out by a TypeError. */
export class FrozenRecords {
  readonly #frozen = new WeakSet();

  /** Freezes `value` and all that can be reached from it. Bytes stay changeable: JavaScript cannot freeze them. */
  freeze(value: unknown): void {
    if (typeof value !== 'object' || value === null || this.#frozen.has(value)) return;
    this.#frozen.add(value);
    if (ArrayBuffer.isView(value)) return;
    for (const part of partsOf(value)) this.freeze(part);
    withoutChanges(value);
    Object.freeze(value);
  }

  has(value: object): boolean {
    return this.#frozen.has(value);
  }
}

/** What is inside of these is no property: the methods that change it are taken from the object instead. */
function withoutChanges(value: object): void {
  const changing = CHANGING.find(([type]) => value instanceof type)?.[1] ?? [];
  for (const method of changing) {
    const refuse = (): never => {
      throw new TypeError(`Cannot ${method} on a record that was emitted: others have it, too`);
    };
    if (Object.isExtensible(value)) Object.defineProperty(value, method, { value: refuse });
  }
}

/** What an object holds, accessors left alone. */
export function partsOf(value: object): unknown[] {
  const parts: unknown[] = [];
  for (const key of Reflect.ownKeys(value)) {
    const property = Reflect.getOwnPropertyDescriptor(value, key);
    if (property !== undefined && 'value' in property) parts.push(property.value);
  }
  if (value instanceof Map) parts.push(...value.keys(), ...value.values());
  if (value instanceof Set) parts.push(...value);
  return parts;
}
