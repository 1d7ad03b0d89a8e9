/** A place in a script where time passes. The brand is a string, so that marks of any package that has them fit. */
export interface TimeMark {
  readonly '~time': 'watermark' | 'elapse';
  /** Of the watermark, or how many milliseconds the clock goes on. */
  readonly ms: number;
}

/** Put between two records: no record with an event time up to `time` follows. */
export function watermark(time: number): TimeMark {
  return Object.freeze({ '~time': 'watermark', ms: time });
}

/**
 * Put between two records: `ms` milliseconds pass, and processing-time timers that fall due are called. The clock stands still otherwise, and a record
 * that is read again after a crash is read at the time at which it was read first.
 */
export function elapse(ms: number): TimeMark {
  return Object.freeze({ '~time': 'elapse', ms });
}

export function isTimeMark(item: unknown): item is TimeMark {
  return typeof item === 'object' && item !== null && typeof (item as Partial<TimeMark>)['~time'] === 'string';
}

/** How long the clock has gone on before item number `count`. */
export function elapsedBefore(items: readonly unknown[], count: number): number {
  return items
    .slice(0, count)
    .reduce<number>((sum, item) => (isTimeMark(item) && item['~time'] === 'elapse' ? sum + item.ms : sum), 0);
}
