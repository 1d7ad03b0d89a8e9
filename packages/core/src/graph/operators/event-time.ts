import { WeirError } from '../../errors.js';
import { timestampsOperator } from '../../operator/timestamps.js';
import { millisecondsOf, type Duration } from '../../time/duration.js';
import { keepingKey } from '../describe.js';
import type { OperatorOptions } from '../stream.js';
import type { RecordOperator } from './stateless.js';

export interface TimestampsOptions<T> extends OperatorOptions {
  /** Event time of a record, epoch milliseconds. */
  timestampOf(record: T): number;
  /** How much earlier than the latest one a record may still come and not be late. Default 0: they come in order. */
  readonly maxOutOfOrderness?: Duration | undefined;
  /** After so long without a record a subtask does not hold event time back for the others any more. Default: it always does. */
  readonly idleAfter?: Duration | undefined;
  /** At least so long between two watermarks; 0 for one behind each batch. Default 200 ms (Flink: pipeline.auto-watermark-interval). */
  readonly watermarkInterval?: Duration | undefined;
}

/** Flink's default. */
const WATERMARK_INTERVAL_MS = 200;

/**
 * Gives records their event time, and event-time timers a time to go by: the watermark is the latest timestamp, less `maxOutOfOrderness` and a
 * millisecond. Put it close to the source, before keyBy, so that disorder is that of the source (Flink: assignTimestampsAndWatermarks).
 */
export function withTimestamps<T>(options: TimestampsOptions<T>): RecordOperator<T, T> {
  const { maxOutOfOrderness = 0, idleAfter, watermarkInterval = WATERMARK_INTERVAL_MS } = options;
  const definition = {
    timestampOf: (record: T) => options.timestampOf(record),
    maxOutOfOrdernessMs: durationOf('maxOutOfOrderness', maxOutOfOrderness),
    idleAfterMs: idleAfter === undefined ? undefined : durationOf('idleAfter', idleAfter),
    watermarkIntervalMs: durationOf('watermarkInterval', watermarkInterval),
  };
  if (definition.idleAfterMs === 0) throw invalid('idleAfter', 'must be longer than 0');
  return (s) => keepingKey(s, 'withTimestamps', (context) => timestampsOperator<T>(context, definition), options);
}

function durationOf(name: string, value: Duration): number {
  const ms = millisecondsOf(value);
  if (typeof ms === 'number') return ms;
  throw invalid(name, ms.problem);
}

function invalid(name: string, problem: string): WeirError {
  return new WeirError('CONFIG_INVALID', `${name} of withTimestamps ${problem}.`, { recoverable: false });
}
