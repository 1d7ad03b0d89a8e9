import { causesOf } from '@weir/core/contracts';

/** What simulated misfortune throws. The brand is a string, so that every copy of this package knows it. */
export class SimulatedFault extends Error {
  readonly '~simulated' = true as const;

  constructor(what: string) {
    super(`simulated: ${what}`);
    this.name = 'SimulatedFault';
  }
}

/** Whether an error comes from a simulated fault, by itself or somewhere in its causes. */
export function isSimulated(error: unknown): boolean {
  for (const cause of causesOf(error)) {
    if ((cause as { '~simulated'?: unknown })['~simulated'] === true) return true;
    if (cause instanceof AggregateError && cause.errors.some(isSimulated)) return true;
  }
  return false;
}
