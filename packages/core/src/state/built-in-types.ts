/** The errors of the language. */
export const ERROR_TYPES: readonly ErrorConstructor[] = [
  Error,
  EvalError,
  RangeError,
  ReferenceError,
  SyntaxError,
  TypeError,
  URIError,
];

export interface TypedArrayType {
  readonly name: string;
  readonly prototype: object;
  new (bytes: ArrayBuffer): object;
}
export const TYPED_ARRAY_TYPES: readonly TypedArrayType[] = [
  Int8Array,
  Uint8Array,
  Uint8ClampedArray,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  Float32Array,
  Float64Array,
  BigInt64Array,
  BigUint64Array,
];
