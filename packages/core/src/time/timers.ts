/** Event time is told by watermarks, processing time by the clock. */
export type TimeDomain = 'event' | 'processing';

/**
 * The timers of the current key: each calls `onTimer` once, with the key set. Part of every checkpoint. One time of one domain is one timer, however
 * often it is registered. Times are epoch milliseconds (PROTOCOL_VIOLATION if not finite). Flink: TimerService.
 */
export interface Timers {
  /** Calls when the watermark reaches `time`; with the next watermark if it already has. */
  registerEventTime(time: number): void;
  /** Calls when the clock reaches `time`; soon if it already has, but never before the present handler has returned. */
  registerProcessingTime(time: number): void;
  /** Nothing happens if there is no such timer. */
  deleteEventTime(time: number): void;
  deleteProcessingTime(time: number): void;
  /** Up to which event time everything was seen, as far as this subtask knows; -Infinity before the first watermark. */
  currentWatermark(): number;
  /** The wall clock, epoch ms. */
  now(): number;
}
