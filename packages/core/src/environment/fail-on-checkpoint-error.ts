import { WeirError } from '../errors.js';
import { inspectShort } from './inspect-short.js';

// Flink's switch from before there was a number of tolerable failures.

/** How many failures in a row the switch tolerates; undefined if it is not used. */
export function toleratedBy(failOnCheckpointError: unknown): number | undefined {
  switch (failOnCheckpointError) {
    case undefined:
      return undefined;
    case true:
      return 0;
    case false:
      return Infinity;
    default:
      throw new WeirError(
        'CONFIG_INVALID',
        `failOnCheckpointError must be true or false, but is ${inspectShort(failOnCheckpointError)}`,
        { recoverable: false },
      );
  }
}

/** What somebody who uses the switch should know. */
export function failOnCheckpointErrorNotices({
  failOnCheckpointError,
  tolerableFailures,
}: {
  readonly failOnCheckpointError?: boolean | undefined;
  readonly tolerableFailures?: number | undefined;
} = {}): readonly string[] {
  if (failOnCheckpointError === undefined) return [];
  const instead = failOnCheckpointError ? 'tolerableFailures: 0, which is the default' : 'tolerableFailures: Infinity';
  const overruled = tolerableFailures === undefined ? '' : ' It has no effect beside tolerableFailures.';
  return [`failOnCheckpointError is deprecated: say ${instead}.${overruled}`];
}
