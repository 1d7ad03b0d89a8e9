import { Observable, Subject, concat, map, merge, of, takeUntil } from 'rxjs';
import type { StreamElement } from '../element/element.js';
import { ChannelMerge } from './channel-merge.js';
import type { Arrival } from './held-elements.js';
import { COMPLETED } from './held-elements.js';
import type { InFlight } from './in-flight.js';
import type { AlignmentMode } from './modes.js';

/** The records that a channel (or one of several) carries. */
export type RecordOf<C> = C extends Observable<StreamElement<infer T>> ? T : never;

/** Several channels as one Observable that has each barrier once. Every subscription is a merge of its own. */
export function carry<T>(
  channels: readonly Observable<StreamElement<T>>[],
  mode: AlignmentMode,
  bound: number,
  inFlight: (inFlight: InFlight<T>) => void = () => undefined,
): Observable<StreamElement<T>> {
  return new Observable((subscriber) => {
    if (channels.length === 0) {
      subscriber.complete();
      return;
    }
    const channelMerge = new ChannelMerge<T>({ mode, channels: channels.length, bound, inFlight }, subscriber);
    let arrivals: { readonly channel: number; readonly arrival: Arrival<T> }[] = [];
    let isTaking = false;

    // Whoever receives an element may make a channel emit before it returns; such arrivals wait until the present one is done with.
    const takeAll = (): void => {
      if (isTaking) return;
      isTaking = true;
      try {
        while (arrivals.length > 0) {
          const present = arrivals;
          arrivals = [];
          for (const { channel, arrival } of present) channelMerge.take(channel, arrival);
        }
      } catch (error) {
        subscriber.error(error);
      }
      isTaking = false;
    };

    // Ends the inputs also while one of them still emits synchronously inside its subscribe.
    const closed = new Subject<void>();
    subscriber.add(() => closed.next());
    const inputs = channels.map((input, channel) =>
      concat(input, of(COMPLETED)).pipe(map((arrival: Arrival<T>) => ({ channel, arrival }))),
    );
    merge(...inputs)
      .pipe(takeUntil(closed))
      .subscribe({
        next: (arrived) => {
          arrivals.push(arrived);
          takeAll();
        },
        error: (error: unknown) => subscriber.error(error),
      });
  });
}
