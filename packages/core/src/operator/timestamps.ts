import { Observable, type Subscriber } from 'rxjs';
import { batchOf, FINAL_WATERMARK, type RecordBatch, type StreamElement } from '../element/element.js';
import { WeirError } from '../errors.js';
import type { Operator, OperatorContext } from './operator.js';
import { operatorFailure } from './user-code.js';

export interface TimestampsDefinition<T> {
  readonly timestampOf: (record: T) => number;
  readonly maxOutOfOrdernessMs: number;
  /** Undefined: a quiet input holds everybody up. */
  readonly idleAfterMs: number | undefined;
  /** At least so long between two watermarks. 0: one behind each batch that brings time forward. */
  readonly watermarkIntervalMs: number;
}

/**
 * Gives each record its event time, and says how far event time has come: as far as the latest record, less the disorder that is allowed for (Flink:
 * TimestampsAndWatermarksOperator, BoundedOutOfOrdernessWatermarks, WatermarksWithIdleness). It remembers nothing beyond a restart: keyed state
 * does, with each key group.
 */
export function timestampsOperator<T>(context: OperatorContext, definition: TimestampsDefinition<T>): Operator<T, T> {
  const time = new ElapsingTime(context, definition);
  return {
    open: () => {
      time.open();
    },
    connect: (source) =>
      new Observable((target) => {
        time.attach(target);
        return source.subscribe({
          next(element) {
            try {
              // What others made of event time before is replaced, save that it is over.
              if (element.kind === 'batch') time.batch(timed(context, element, definition.timestampOf));
              else if (element.kind === 'watermark' && element.time === FINAL_WATERMARK.time) time.end();
            } catch (error) {
              target.error(operatorFailure(context, error));
            }
          },
          error(error) {
            target.error(error);
          },
          complete() {
            target.complete();
          },
        });
      }),
    close: () => {
      time.close();
    },
  };
}

interface TimedBatch<T> extends RecordBatch<T> {
  readonly latest: number;
}

function timed<T>(
  { uid, job }: OperatorContext,
  { records, keys }: RecordBatch<T>,
  timestampOf: (record: T) => number,
): TimedBatch<T> {
  const timestamps = new Array<number>(records.length);
  let latest = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < records.length; i++) {
    const timestamp = timestampOf(records[i] as T);
    if (!Number.isFinite(timestamp)) {
      throw new WeirError(
        'OPERATOR_FAILED',
        `Operator ${uid} of job ${job}: timestampOf gave ${String(timestamp)}. It must give a finite number of milliseconds.`,
        { recoverable: false },
      );
    }
    timestamps[i] = timestamp;
    if (timestamp > latest) latest = timestamp;
  }
  return { ...batchOf(records, timestamps, keys), latest };
}

/** Event time as it goes by: what is told, and when. */
class ElapsingTime<T> {
  readonly #context: OperatorContext;
  readonly #definition: TimestampsDefinition<T>;
  #target: Subscriber<StreamElement<T>> | undefined;
  #latest = Number.NEGATIVE_INFINITY;
  #told = Number.NEGATIVE_INFINITY;
  #toldAt = Number.NEGATIVE_INFINITY;
  #cancelTelling: (() => void) | undefined;
  #isIdle = false;
  #recordAt = 0;
  #cancelLook: (() => void) | undefined;

  constructor(context: OperatorContext, definition: TimestampsDefinition<T>) {
    this.#context = context;
    this.#definition = definition;
  }

  attach(target: Subscriber<StreamElement<T>>): void {
    this.#target = target;
  }

  open(): void {
    this.#awaitRecord();
  }

  batch({ latest, ...batch }: TimedBatch<T>): void {
    this.#wake();
    this.#latest = Math.max(this.#latest, latest);
    this.#target?.next(batch);
    if (this.#watermark <= this.#told || this.#cancelTelling !== undefined) return;
    const wait = this.#toldAt + this.#definition.watermarkIntervalMs - this.#context.clock.monotonic();
    if (wait <= 0) this.#tell();
    else this.#cancelTelling = this.#context.timer(wait, this.#tell);
  }

  end(): void {
    this.#wake();
    this.close();
    this.#target?.next(FINAL_WATERMARK);
  }

  close(): void {
    this.#cancelTelling?.();
    this.#cancelTelling = undefined;
    this.#cancelLook?.();
    this.#cancelLook = undefined;
  }

  /** A record at the very time of the watermark would be late, and there may be another like the latest. */
  get #watermark(): number {
    return this.#latest - this.#definition.maxOutOfOrdernessMs - 1;
  }

  readonly #tell = (): void => {
    this.#cancelTelling = undefined;
    const time = this.#watermark;
    if (time <= this.#told) return;
    this.#told = time;
    this.#toldAt = this.#context.clock.monotonic();
    this.#target?.next({ kind: 'watermark', time });
  };

  #wake(): void {
    if (this.#definition.idleAfterMs === undefined) return;
    this.#recordAt = this.#context.clock.monotonic();
    if (!this.#isIdle) return;
    this.#isIdle = false;
    this.#target?.next({ kind: 'idle', idle: false });
    this.#awaitRecord();
  }

  #awaitRecord(): void {
    const { idleAfterMs } = this.#definition;
    if (idleAfterMs === undefined) return;
    this.#recordAt = this.#context.clock.monotonic();
    this.#look(idleAfterMs, false);
  }

  /**
   * Looks after `delayMs` whether no record has come for long enough. Records that could not come, because the output took none, are no silence: so it
   * looks twice, and in between the subtask has tried to move one.
   */
  #look(delayMs: number, isSecond: boolean): void {
    this.#cancelLook = this.#context.timer(delayMs, () => {
      const quiet = this.#context.clock.monotonic() - this.#recordAt;
      const rest = (this.#definition.idleAfterMs as number) - quiet;
      if (rest > 0) this.#look(rest, false);
      else if (!isSecond) this.#look(0, true);
      else {
        this.#cancelLook = undefined;
        this.#cancelTelling?.();
        this.#tell();
        this.#isIdle = true;
        this.#target?.next({ kind: 'idle', idle: true });
      }
    });
  }
}
