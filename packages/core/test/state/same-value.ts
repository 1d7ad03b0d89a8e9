/**
 * Why two values differ in anything that code could notice, or undefined: types, classes, values up to the sign of zero, order of properties and
 * entries, holes, and which parts are one and the same object.
 */
export function differenceOf(a: unknown, b: unknown): string | undefined {
  return compare(a, b, 'value', new Map(), new Map());
}

function compare(
  a: unknown,
  b: unknown,
  at: string,
  pairs: Map<object, object>,
  reverse: Map<object, object>,
): string | undefined {
  if (typeof a !== 'object' || a === null || typeof b !== 'object' || b === null) {
    return Object.is(a, b) ? undefined : `${at}: ${String(a)} became ${String(b)}`;
  }
  if (pairs.has(a) || reverse.has(b)) {
    return pairs.get(a) === b && reverse.get(b) === a ? undefined : `${at} is shared differently`;
  }
  pairs.set(a, b);
  reverse.set(b, a);
  if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return `${at} is of another class`;
  const partsA = partsOf(a);
  const partsB = partsOf(b);
  if (partsA.length !== partsB.length) return `${at} has ${partsB.length} parts instead of ${partsA.length}`;
  for (const [i, [name, part]] of partsA.entries()) {
    const [otherName, other] = partsB[i]!;
    if (name !== otherName) return `${at}: ${name} became ${otherName}`;
    const difference = compare(part, other, `${at}/${name}`, pairs, reverse);
    if (difference !== undefined) return difference;
  }
  return undefined;
}

function partsOf(value: object): [string, unknown][] {
  if (value instanceof ArrayBuffer) return bytesOf(value, 0, value.byteLength);
  if (ArrayBuffer.isView(value)) return bytesOf(value.buffer, value.byteOffset, value.byteLength);
  const parts: [string, unknown][] = [];
  if (Array.isArray(value)) parts.push(['length', value.length]);
  if (value instanceof Date) parts.push(['time', value.getTime()]);
  if (value instanceof RegExp) parts.push(['source', value.source], ['flags', value.flags]);
  if (value instanceof Map) for (const [key, entry] of value) parts.push(['key', key], ['entry', entry]);
  if (value instanceof Set) for (const element of value) parts.push(['element', element]);
  for (const name of Reflect.ownKeys(value)) {
    const property = Object.getOwnPropertyDescriptor(value, name)!;
    if ((name === 'length' && Array.isArray(value)) || (value instanceof Error && isLost(name, property.value)))
      continue;
    parts.push([String(name), 'value' in property ? property.value : property.get]);
    if (!(value instanceof Error) && !(value instanceof RegExp)) parts.push(['enumerable', property.enumerable]);
  }
  return parts;
}

/** An error's stack, and the difference between no cause and one that is undefined, are not kept. */
function isLost(name: PropertyKey, value: unknown): boolean {
  return name === 'stack' || (name === 'cause' && value === undefined);
}

function bytesOf(buffer: ArrayBufferLike, offset: number, length: number): [string, unknown][] {
  return [['bytes', Buffer.from(buffer, offset, length).toString('hex')]];
}
