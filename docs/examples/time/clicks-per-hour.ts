import { keyBy, keyedProcess, mapState, type Emit, type StreamOperator } from '@weir/core/operators';

export interface Click {
  readonly visitor: string;
  /** Epoch ms. */
  readonly at: number;
}
export interface Hour {
  readonly visitor: string;
  /** Its last millisecond. */
  readonly end: number;
  readonly clicks: number;
}
const HOUR = 3_600_000;

/** How often each visitor has clicked in each hour of event time, told once, as soon as the hour is over. */
export function clicksPerHour(): StreamOperator<Click, Hour> {
  return (clicks) =>
    clicks.pipe(
      keyBy(({ visitor }) => visitor),
      keyedProcess({
        uid: 'clicks-per-hour',
        state: { counts: mapState<number, number>() },
        onRecord({ at }, { state: { counts }, timers }) {
          const end = at - (at % HOUR) + HOUR - 1;
          if (end <= timers.currentWatermark()) return; // too late: that hour has been told
          counts.set(end, (counts.get(end) ?? 0) + 1);
          timers.registerEventTime(end);
        },
        onTimer(end, { key, state: { counts } }, emit: Emit<Hour>) {
          emit({ visitor: key, end, clicks: counts.get(end) ?? 0 });
          counts.delete(end);
        },
      }),
    );
}
