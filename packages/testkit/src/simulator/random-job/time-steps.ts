import {
  keyBy,
  keyedProcess,
  listState,
  operatorListState,
  reducingState,
  subtaskProcess,
  withTimestamps,
  type Emit,
} from '@weir/core/operators';
import { numberOf, type Item } from './item.js';
import type { Items, KeyedOptions } from './keyed-steps.js';

const WINDOW_MS = 50;

export interface TimedOptions extends KeyedOptions {
  readonly maxOutOfOrderness: number;
  readonly watermarkInterval: number;
  /** A second timer, by the clock, lets records go earlier. */
  readonly isImpatient: boolean;
}

/** Holds records until a timer of their key comes, at the latest at the end of all event time. Which timer it is makes no difference. */
export function hold(input: Items, options: TimedOptions): Items {
  const { uid, keys, parallelism, maxOutOfOrderness, watermarkInterval, isImpatient } = options;
  return input.pipe(
    withTimestamps({ timestampOf: ({ id }) => numberOf(id) % 1000, maxOutOfOrderness, watermarkInterval }),
    keyBy(({ key }) => key % keys),
    keyedProcess({
      uid,
      parallelism,
      state: {
        held: listState<string>(),
        seen: reducingState<number>({ reduce: (a, b) => a + b }),
      },
      onRecord({ id }, { key, timestamp = 0, state: { held, seen }, timers }, emit: Emit<Item>) {
        held.add(id);
        seen.add(1);
        emit({ id: `${uid}:${String(key)}=${String(seen.value())}`, key });
        const end = Math.ceil(timestamp / WINDOW_MS) * WINDOW_MS;
        // One that is deleted and one that stays.
        timers.registerEventTime(end - WINDOW_MS / 2);
        timers.registerEventTime(end);
        timers.deleteEventTime(end - WINDOW_MS / 2);
        if (isImpatient) timers.registerProcessingTime(Math.ceil(timers.now() / 10) * 10);
      },
      onTimer(_time, { key, state: { held } }, emit) {
        for (const id of held.values()) emit({ id: `${id}t`, key });
        held.clear();
      },
    }),
  );
}

/** Lets records go by three, in the state of a subtask. */
export function gather(input: Items, { uid, parallelism }: KeyedOptions): Items {
  return input.pipe(
    subtaskProcess({
      uid,
      parallelism,
      state: { three: operatorListState<Item>() },
      onRecord(item, { state: { three } }, emit: Emit<Item>) {
        three.add(item);
        if (three.values().length < 3) return;
        for (const { id, key } of three.values()) emit({ id: `${id}g`, key });
        three.clear();
      },
      onEnd({ state: { three } }, emit) {
        for (const { id, key } of three.values()) emit({ id: `${id}g`, key });
        three.clear();
      },
    }),
  );
}
