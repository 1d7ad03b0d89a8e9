import type { Logger } from '../contracts/logger.js';
import type { Metrics } from '../contracts/metrics.js';
import { observed } from '../contracts/observed.js';
import { messageOf } from '../errors.js';

/** Who is told what happens, and has no say in it. */
export type ObserverKind = 'logger' | 'metrics' | 'subscriber';

export interface ObserverFailures {
  /** What an observer threw while it was told `what`: counted each time, said aloud the first time of each kind. */
  failed(kind: ObserverKind, what: string, error: unknown): void;
}

/** What users give to observe their jobs with, as it was given. */
export interface GivenObservers {
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** For what the logger cannot say. */
  readonly warn: (message: string) => void;
}

/** Counts as `weir.observer.failures`, and says it in the log; of the logger itself, through `warn`. */
export function observerFailures({ logger, metrics, warn }: GivenObservers): ObserverFailures {
  const said = new Set<ObserverKind>();
  const count = (observer: ObserverKind): void => {
    // Asked for each time: this is no path that many go.
    const counter = observed(() => metrics.counter('weir.observer.failures', { observer }), UNHEARD);
    observed(() => counter?.add(1), UNHEARD);
  };
  return {
    failed(kind, what, error) {
      count(kind);
      if (said.has(kind)) return;
      said.add(kind);
      const message = `${PLACES[kind]} threw at ${what}: ${messageOf(error)}. The job goes on. Whatever else it throws is only counted, as weir.observer.failures.`;
      const throughProcess = (): void => {
        observed(() => {
          warn(message);
        }, UNHEARD);
      };
      if (kind === 'logger') throughProcess();
      else
        observed(() => {
          logger.error({ observer: kind }, message);
        }, throughProcess);
    },
  };
}

const PLACES: Readonly<Record<ObserverKind, string>> = {
  logger: 'The logger',
  metrics: 'The metrics object',
  subscriber: 'A subscriber to what a job tells',
};

/** There is nobody left to tell. */
const UNHEARD = (): void => undefined;
