import type { Metrics, Random } from '@weir/core/contracts';
import type { Faults } from './faults.js';
import { SimulatedFault } from './simulated-fault.js';

const FAILS = 0.05;

/** Throws now and then, in the name of somebody who only watches the job. Chance of its own: who watches must not move what else happens. */
export function observing(faults: Faults, random: Random): (what: string) => void {
  return (what) => {
    if (faults.isCalm || random() >= FAILS) return;
    faults.count('observer-failure', what);
    throw new SimulatedFault(`${what} broke`);
  };
}

/** Metrics that throw when they are asked for an instrument, when something is measured, and when a gauge is taken away. */
export function unreliableMetrics(metrics: Metrics, observe: (what: string) => void): Metrics {
  return {
    counter(name, labels) {
      observe(name);
      const counter = metrics.counter(name, labels);
      return {
        add(count) {
          observe(name);
          counter.add(count);
        },
      };
    },
    histogram(name, labels) {
      observe(name);
      const histogram = metrics.histogram(name, labels);
      return {
        record(value) {
          observe(name);
          histogram.record(value);
        },
      };
    },
    gauge(name, read, labels) {
      observe(name);
      const remove = metrics.gauge(name, read, labels);
      return () => {
        remove();
        observe(name);
      };
    },
  };
}
