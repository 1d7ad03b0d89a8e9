import type { CallTimeouts } from '../bounds/calls.js';
import type { Configuration } from './configuration.js';
import { parseDuration, type Duration } from './duration.js';
import { refuseUnknownOptions } from './known-options.js';
import { SUPPORTED_KEYS } from './supported-keys.js';

/** How long a call may take, by whose it is. A checkpoint storage or a sink that is slow by nature may need more. */
export interface CallTimeoutOptions {
  /** Default 60 s. */
  readonly storage?: Duration | undefined;
  /** Default 120 s. */
  readonly source?: Duration | undefined;
  /** Default 120 s. */
  readonly sink?: Duration | undefined;
  /** Default 120 s. */
  readonly state?: Duration | undefined;
}

const CONTRACTS = ['storage', 'source', 'sink', 'state'] as const;

export function parseCallTimeouts(options: CallTimeoutOptions = {}): Partial<CallTimeouts> {
  refuseUnknownOptions('callTimeouts', options, CONTRACTS);
  return Object.fromEntries(
    CONTRACTS.flatMap((contract) => {
      const given = options[contract];
      return given === undefined ? [] : [[contract, parseDuration(given, `callTimeouts.${contract}`)]];
    }),
  );
}

/** What code says wins over the configuration. */
export function callTimeoutsOf(given: Partial<CallTimeouts>, configuration: Pick<Configuration, 'get'>): CallTimeouts {
  const of = (contract: (typeof CONTRACTS)[number]): number => {
    const key = `weir.call-timeout.${contract}` as const;
    return given[contract] ?? configuration.get(key) ?? SUPPORTED_KEYS[key].default;
  };
  return { storage: of('storage'), source: of('source'), sink: of('sink'), state: of('state') };
}
