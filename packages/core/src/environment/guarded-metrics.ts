import type { Counter, Histogram, Metrics } from '../contracts/metrics.js';
import { observed } from '../contracts/observed.js';
import type { ObserverFailures } from './observer-failures.js';

/** A metrics object of a user that may throw: what it does not take is lost, and nothing else. */
export function guardedMetrics(inner: Metrics, failures: ObserverFailures): Metrics {
  const guarded = <T>(name: string, act: () => T): T | undefined =>
    observed(act, (error) => {
      failures.failed('metrics', name, error);
    });
  // What was not given is asked all the same: each measurement that is lost counts.
  return {
    counter(name, labels) {
      const counter = guarded(name, () => inner.counter(name, labels));
      return {
        add(count) {
          guarded(name, () => (counter as Counter).add(count));
        },
      };
    },
    histogram(name, labels) {
      const histogram = guarded(name, () => inner.histogram(name, labels));
      return {
        record(value) {
          guarded(name, () => (histogram as Histogram).record(value));
        },
      };
    },
    gauge(name, read, labels) {
      const remove = guarded(name, () => inner.gauge(name, read, labels));
      return () => {
        guarded(name, () => (remove as () => void)());
      };
    },
  };
}
