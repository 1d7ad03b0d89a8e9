// Imports nothing of hyparquet: what parquet() is declared with has to compile without that package.

/** In which form values come that JavaScript has no exact counterpart for. */
export interface ExactValues {
  /** 64-bit integers: exact, or as numbers, where a value beyond 2^53 is refused. Default 'bigint'. */
  readonly int64: 'bigint' | 'number';
  /** Decimals: exact ('0.35'), or as the nearest number. Default 'text'. */
  readonly decimals: 'text' | 'number';
  /** Times: Dates, where a part of a millisecond is refused, or nanoseconds since 1970 as bigints. Default 'date'. */
  readonly timestamps: 'date' | 'nanoseconds';
  /** Bytes of no text type: as they are, or as UTF-8, which some writers mean without saying so. Default 'bytes'. */
  readonly binary: 'bytes' | 'text';
}
