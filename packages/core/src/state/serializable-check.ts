import { isWellFormed } from '../element/well-formed.js';
import { ERROR_TYPES, TYPED_ARRAY_TYPES } from './built-in-types.js';
import { fault, inside, propertyStep } from './fault.js';
import type { Fault } from './fault.js';
import { SharedBytes } from './shared-bytes.js';

// What both codecs give back as it was: undefined, null, booleans, numbers, bigints, well-formed strings, plain objects, arrays, Map, Set, Date,
// RegExp, the errors of the language, ArrayBuffer, DataView, typed arrays and Buffer, and references shared among these or leading back.
// Everything else is refused here rather than changed silently there, save what a codec keeps beyond that.

/** What a codec keeps that another loses. */
export interface CodecPowers {
  readonly keepsLoneSurrogates: boolean;
  readonly keepsHoles: boolean;
  /** Property names that it uses for itself or changes for safety. */
  readonly lostNames: ReadonlySet<string>;
}

/** Deeper values are refused: codecs recurse, and reading may need more of the stack than writing did. */
const MAX_DEPTH = 256;

/** Values with fewer objects are walked without remembering which were seen. */
const REMEMBER_FROM = 32;

const ERRORS: ReadonlySet<unknown> = new Set(ERROR_TYPES.map((type) => type.prototype));
const TYPED_ARRAYS: ReadonlySet<unknown> = new Set(
  [Buffer, ...TYPED_ARRAY_TYPES].map((type) => type.prototype as unknown),
);
const BUILT_INS: ReadonlySet<unknown> = new Set(
  [Map, Set, Date, RegExp, ArrayBuffer, DataView].map((type) => type.prototype as unknown),
);
/** Own properties that instances have anyway. */
const NO_NAMES: ReadonlySet<PropertyKey> = new Set();
const REGEXP_NAMES: ReadonlySet<PropertyKey> = new Set(['lastIndex']);
const ERROR_NAMES: ReadonlySet<PropertyKey> = new Set(['stack', 'message', 'cause']);

export interface Examination {
  /** The first thing that would not survive. */
  readonly fault: Fault | undefined;
  /** The codec needs help with these (negative-zeros.ts). */
  readonly hasNegativeZero: boolean;
}

interface Walk {
  readonly powers: CodecPowers;
  visited: number;
  hasNegativeZero: boolean;
  seen: Set<object> | undefined;
  openErrors: Set<object> | undefined;
  sharedBytes: SharedBytes | undefined;
}

/** Looks through all of a value. Calls no code of the value (no getter). */
export function examine(value: unknown, powers: CodecPowers): Examination {
  const walk: Walk = {
    powers,
    visited: 0,
    hasNegativeZero: false,
    seen: undefined,
    openErrors: undefined,
    sharedBytes: undefined,
  };
  return { fault: faultOf(value, 0, walk), hasNegativeZero: walk.hasNegativeZero };
}

function faultOf(value: unknown, depth: number, walk: Walk): Fault | undefined {
  switch (typeof value) {
    case 'string':
      return isKept(value, walk) ? undefined : fault('is a string with a lone surrogate');
    case 'number':
      if (value === 0 && Object.is(value, -0)) walk.hasNegativeZero = true;
      return undefined;
    case 'undefined':
    case 'boolean':
    case 'bigint':
      return undefined;
    case 'function':
    case 'symbol':
      return fault(`is a ${typeof value}`);
    case 'object':
      return value === null ? undefined : faultOfObject(value, depth, walk);
  }
}

function isKept(text: string, walk: Walk): boolean {
  return walk.powers.keepsLoneSurrogates || isWellFormed(text);
}

function faultOfObject(value: object, depth: number, walk: Walk): Fault | undefined {
  if (walk.openErrors?.has(value) === true) return fault('is an Error that leads back to itself');
  if (walk.seen?.has(value) === true) return undefined;
  if (depth === MAX_DEPTH) return fault(`is nested more than ${MAX_DEPTH} deep`);
  if (++walk.visited > REMEMBER_FROM) (walk.seen ??= new Set()).add(value);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype) return faultOfRecord(value as Record<string, unknown>, depth, walk);
  if (prototype === Array.prototype && Array.isArray(value)) return faultOfArray(value, depth, walk);
  if (TYPED_ARRAYS.has(prototype)) return faultOfView(value as NodeJS.TypedArray, walk);
  return faultOfBuiltIn(value, prototype, depth, walk);
}

function faultOfRecord(value: Record<string, unknown>, depth: number, walk: Walk): Fault | undefined {
  for (const name of Reflect.ownKeys(value)) {
    if (typeof name === 'symbol') return fault(`has a property named by a symbol, ${String(name)}`);
    if (walk.powers.lostNames.has(name)) return fault(`has a property named ${name}`);
    if (!isKept(name, walk)) return fault('has a property whose name has a lone surrogate');
    // Reading the descriptor instead of the property tells getters from values, and runs none.
    const property = Object.getOwnPropertyDescriptor(value, name)!;
    if (!('value' in property)) return inside(propertyStep(name), fault('is a getter or setter'));
    if (property.enumerable !== true) return inside(propertyStep(name), fault('is not enumerable'));
    const found = faultOf(property.value, depth + 1, walk);
    if (found !== undefined) return inside(propertyStep(name), found);
  }
  return undefined;
}

function faultOfArray(value: readonly unknown[], depth: number, walk: Walk): Fault | undefined {
  let present = value.length;
  for (let i = 0; i < value.length; i++) {
    const element = value[i];
    let found: Fault | undefined;
    if (element !== undefined || i in value) found = faultOf(element, depth + 1, walk);
    else if (walk.powers.keepsHoles) present--;
    else found = fault('is a hole in an array');
    if (found !== undefined) return inside(`[${i}]`, found);
  }
  return Object.keys(value).length === present ? undefined : fault('is an array with properties of its own');
}

function faultOfView(value: NodeJS.TypedArray | DataView, walk: Walk): Fault | undefined {
  const { buffer } = value;
  if (Object.getPrototypeOf(buffer) !== ArrayBuffer.prototype) return fault('is a view of shared memory');
  return faultOfBytes(value, buffer as ArrayBuffer, value.byteOffset, value.byteLength, walk);
}

function faultOfBytes(
  owner: object,
  buffer: ArrayBuffer,
  start: number,
  length: number,
  walk: Walk,
): Fault | undefined {
  // The type of ES2023 does not know resizable buffers, Node 20 does.
  if ((buffer as { readonly resizable?: boolean }).resizable === true) return fault('is backed by a resizable buffer');
  walk.sharedBytes ??= new SharedBytes();
  return walk.sharedBytes.add(owner, buffer, start, length)
    ? undefined
    : fault('shares its bytes with another part of the value');
}

function faultOfBuiltIn(value: object, prototype: unknown, depth: number, walk: Walk): Fault | undefined {
  if (prototype === null) return fault('is an object without prototype (copy it with { ...value })');
  if (!BUILT_INS.has(prototype) && !ERRORS.has(prototype)) {
    return fault(`is ${nameOf(value)}, an instance of a class that no serializer was given for`);
  }
  const expected = ERRORS.has(prototype) ? ERROR_NAMES : prototype === RegExp.prototype ? REGEXP_NAMES : NO_NAMES;
  const own = Reflect.ownKeys(value).find((name) => !expected.has(name));
  if (own !== undefined) return fault(`is ${nameOf(value)} with properties of its own (${String(own)})`);
  switch (prototype) {
    case Map.prototype: {
      let i = 0;
      for (const [key, entry] of value as Map<unknown, unknown>) {
        const found =
          inside(`.key(${i})`, faultOf(key, depth + 1, walk)) ??
          inside(entryStep(key, i), faultOf(entry, depth + 1, walk));
        if (found !== undefined) return found;
        i++;
      }
      return undefined;
    }
    case Set.prototype: {
      let i = 0;
      for (const element of value as Set<unknown>) {
        const found = faultOf(element, depth + 1, walk);
        if (found !== undefined) return inside(`.element(${i})`, found);
        i++;
      }
      return undefined;
    }
    case Date.prototype:
      return undefined;
    case RegExp.prototype:
      return (value as RegExp).lastIndex === 0 ? undefined : fault('is a RegExp with a lastIndex');
    case ArrayBuffer.prototype:
      return faultOfBytes(value, value as ArrayBuffer, 0, (value as ArrayBuffer).byteLength, walk);
    case DataView.prototype:
      return faultOfView(value as DataView, walk);
    default:
      return faultOfError(value as Error, depth, walk);
  }
}

/** The stack is not looked at: it is not kept. */
function faultOfError(value: Error, depth: number, walk: Walk): Fault | undefined {
  const { message, cause } = value;
  if (typeof message !== 'string') return inside('.message', fault('is not a string'));
  const found = faultOf(message, depth, walk);
  if (found !== undefined) return inside('.message', found);
  const open = (walk.openErrors ??= new Set());
  open.add(value);
  const inCause = inside('.cause', faultOf(cause, depth + 1, walk));
  open.delete(value);
  return inCause;
}

function entryStep(key: unknown, index: number): string {
  return typeof key === 'string'
    ? `.get(${JSON.stringify(key)})`
    : typeof key === 'number'
      ? `.get(${key})`
      : `.value(${index})`;
}

function nameOf(value: object): string {
  const { constructor } = value as { constructor?: unknown };
  const name = typeof constructor === 'function' ? constructor.name : '';
  return name === '' ? 'an anonymous object' : name;
}
