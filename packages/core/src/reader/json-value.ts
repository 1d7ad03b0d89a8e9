import { ERROR_TYPES, TYPED_ARRAY_TYPES } from '../state/built-in-types.js';

// Values as JSON that can be turned back. What JSON has is itself; what it has not is an object with one name that begins with `$`:
//   {"$undefined":true}  {"$number":"NaN"}  {"$bigint":"7"}  {"$date":"…Z"}  {"$regexp":["source","flags"]}
//   {"$map":[[key,value],…]}  {"$set":[…]}  {"$bytes":["Uint8Array","base64"]}  {"$error":["TypeError","message",cause?]}
//   {"$array":[length,[index,value],…]}   an array with holes
//   {"$object":[[name,value],…]}          an object that has such a name itself
//   {"$id":[n,…]}  {"$ref":n}             an object that occurs again, and where it does
// The bytes of numbers in views are little-endian.

export type JsonValue =
  null | boolean | number | string | readonly JsonValue[] | { readonly [name: string]: JsonValue };

/** A value as JSON that {@link fromJsonValue} turns back, shared and circular references included. TypeError for functions, symbols, foreign classes. */
export function toJsonValue(value: unknown): JsonValue {
  const shared = sharedIn(value);
  const ids = new Map<object, number>();
  const write = (each: unknown): JsonValue => {
    if (typeof each !== 'object' || each === null) return primitive(each);
    if (!shared.has(each)) return written(each, write);
    const id = ids.get(each);
    if (id !== undefined) return { $ref: id };
    const next = ids.size + 1;
    ids.set(each, next);
    return { $id: [next, written(each, write)] };
  };
  return write(value);
}

/** The value that {@link toJsonValue} was given. TypeError for a notation that it does not write. */
export function fromJsonValue(json: JsonValue): unknown {
  const known = new Map<number, object>();
  const read = (each: JsonValue, made: (object: object) => void): unknown => {
    if (typeof each !== 'object' || each === null) return each;
    const plain = (inner: JsonValue): unknown => read(inner, () => undefined);
    if (isArray(each)) return fill([] as unknown[], made, (array) => each.forEach((e) => array.push(plain(e))));
    const [name, ...others] = Object.keys(each);
    if (name?.startsWith('$') !== true) return fill({}, made, (object) => define(object, Object.entries(each), plain));
    const content = each[name];
    if (others.length > 0 || content === undefined) throw malformed(each);
    if (name === '$ref') return known.get(content as number) ?? fail(each);
    if (name === '$id') {
      const [id, inner] = listOf(content, each) as [number, JsonValue];
      return read(inner, (object) => known.set(id, object));
    }
    return special(name, content, made, plain) ?? (name === '$undefined' ? undefined : fail(each));
  };
  return read(json, () => undefined);
}

type Write = (value: unknown) => JsonValue;
type Read = (json: JsonValue) => unknown;

function primitive(value: unknown): JsonValue {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      return Number.isFinite(value) && !Object.is(value, -0)
        ? value
        : { $number: Object.is(value, -0) ? '-0' : String(value) };
    case 'bigint':
      return { $bigint: String(value) };
    case 'undefined':
      return { $undefined: true };
    case 'object':
      return null;
    default:
      throw new TypeError(`a ${typeof value} has no notation in JSON`);
  }
}

function written(value: object, write: Write): JsonValue {
  if (Array.isArray(value)) return writtenArray(value as unknown[], write);
  if (value instanceof Map) return { $map: [...value].map(([key, each]) => [write(key), write(each)]) };
  if (value instanceof Set) return { $set: [...value].map(write) };
  if (value instanceof Date) return { $date: Number.isNaN(value.getTime()) ? null : value.toISOString() };
  if (value instanceof RegExp) return { $regexp: [value.source, value.flags] };
  if (value instanceof Error) {
    return { $error: [value.name, value.message, ...(value.cause === undefined ? [] : [write(value.cause)])] };
  }
  const bytes = bytesOf(value);
  if (bytes !== undefined) return { $bytes: [nameOf(value), bytes.toString('base64')] };
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null)
    throw new TypeError(`an instance of ${nameOf(value)} has no notation in JSON`);
  const entries = Object.entries(value).map(([name, each]) => [name, write(each)] as const);
  return entries.some(([name]) => name.startsWith('$')) ? { $object: entries } : Object.fromEntries(entries);
}

function writtenArray(array: readonly unknown[], write: Write): JsonValue {
  const present = Object.keys(array);
  if (present.length === array.length) return array.map(write);
  return { $array: [array.length, ...present.map((index): JsonValue => [Number(index), write(array[Number(index)])])] };
}

/** Undefined if there is no such notation, or if the value is undefined. */
function special(name: string, content: JsonValue, made: (object: object) => void, read: Read): unknown {
  switch (name) {
    case '$number':
      return Number(content);
    case '$bigint':
      return BigInt(content as string);
    case '$date':
      return fill(new Date(content === null ? Number.NaN : (content as string)), made);
    case '$regexp':
      return fill(new RegExp(...(content as [string, string])), made);
    case '$map':
      return fill(new Map(), made, (map) => {
        for (const [key, value] of content as [JsonValue, JsonValue][]) map.set(read(key), read(value));
      });
    case '$set':
      return fill(new Set(), made, (set) => {
        for (const value of content as JsonValue[]) set.add(read(value));
      });
    case '$bytes':
      return fill(viewOfBytes(...(content as [string, string])), made);
    case '$error': {
      const [type, message, cause] = content as [string, string, JsonValue?];
      return fill(new (ERRORS.get(type) ?? Error)(message), made, (error) => {
        if (cause !== undefined)
          Object.defineProperty(error, 'cause', { value: read(cause), writable: true, configurable: true });
      });
    }
    case '$array': {
      const [length, ...present] = content as [number, ...[number, JsonValue][]];
      return fill(new Array<unknown>(length), made, (array) => {
        for (const [index, value] of present) array[index] = read(value);
      });
    }
    case '$object':
      return fill({}, made, (object) => define(object, content as [string, JsonValue][], read));
    default:
      return undefined;
  }
}

/** The object is known before what it holds is read, which may lead back to it. */
function fill<T extends object>(object: T, made: (object: object) => void, content?: (object: T) => void): T {
  made(object);
  content?.(object);
  return object;
}

function define(object: object, entries: readonly (readonly [string, JsonValue])[], read: Read): void {
  // An assignment to `__proto__` would be something else.
  for (const [name, value] of entries)
    Object.defineProperty(object, name, { value: read(value), enumerable: true, writable: true, configurable: true });
}

/** Objects that occur more than once. */
function sharedIn(value: unknown): ReadonlySet<object> {
  const seen = new Set<object>();
  const shared = new Set<object>();
  const rest: unknown[] = [value];
  while (rest.length > 0) {
    const each = rest.pop();
    if (typeof each !== 'object' || each === null) continue;
    if (seen.has(each)) shared.add(each);
    else {
      seen.add(each);
      for (const part of partsOf(each)) rest.push(part);
    }
  }
  return shared;
}

function partsOf(value: object): Iterable<unknown> {
  if (value instanceof Map) return [...(value as Map<unknown, unknown>)].flat();
  if (value instanceof Set) return value as Set<unknown>;
  if (value instanceof Error) return [value.cause];
  return bytesOf(value) === undefined ? (Object.values(value) as unknown[]) : [];
}

const ERRORS: ReadonlyMap<string, ErrorConstructor> = new Map(ERROR_TYPES.map((type) => [type.name, type]));
const VIEWS = new Map<string, (bytes: ArrayBuffer) => object>([
  ['ArrayBuffer', (bytes) => bytes],
  ['Buffer', (bytes) => Buffer.from(bytes)],
  ['DataView', (bytes) => new DataView(bytes)],
  ...TYPED_ARRAY_TYPES.map((type): [string, (bytes: ArrayBuffer) => object] => [type.name, (bytes) => new type(bytes)]),
]);

function bytesOf(value: object): Buffer | undefined {
  if (value instanceof ArrayBuffer) return Buffer.from(value);
  return ArrayBuffer.isView(value) ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : undefined;
}

function viewOfBytes(type: string, base64: string): object {
  const make = VIEWS.get(type);
  if (make === undefined) throw new TypeError(`there are no bytes of type ${type}`);
  return make(new Uint8Array(Buffer.from(base64, 'base64')).buffer);
}

function nameOf(value: object): string {
  return value.constructor.name;
}

function isArray(json: JsonValue): json is readonly JsonValue[] {
  return Array.isArray(json);
}

function listOf(content: JsonValue, where: JsonValue): readonly JsonValue[] {
  return isArray(content) ? content : fail(where);
}

function malformed(json: JsonValue): TypeError {
  return new TypeError(
    `${JSON.stringify(json)} is no notation of a value. Names that begin with $ are written as {"$object": [[name, value]]}.`,
  );
}

function fail(json: JsonValue): never {
  throw malformed(json);
}
