import type { Logger } from '../contracts/logger.js';
import { observed } from '../contracts/observed.js';
import { messageOf } from '../errors.js';
import type { ObserverFailures } from './observer-failures.js';

type Level = 'debug' | 'info' | 'warn' | 'error';

/**
 * A logger of a user that may throw. What it could not write it is given once more, as texts under another name: serializers are the usual cause.
 */
export function guardedLogger(
  inner: Logger,
  failures: ObserverFailures,
  bindings: Readonly<Record<string, unknown>> = {},
): Logger {
  const log = (level: Level, fields: object, message: string): void => {
    const all = { ...bindings, ...fields };
    observed(
      () => inner[level](all, message),
      (error) => {
        failures.failed('logger', `'${message}'`, error);
        observed(
          () => inner[level]({ details: asTexts(all) }, message),
          () => undefined,
        );
      },
    );
  };
  const at =
    (level: Level) =>
    (fields: object, message: string): void => {
      log(level, fields, message);
    };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child(more) {
      const failed = (error: unknown): void => {
        failures.failed('logger', 'child', error);
      };
      const child = observed(() => inner.child(more) as Logger | undefined, failed);
      // Without a child, what it was to say each time goes into each entry.
      return child === undefined
        ? guardedLogger(inner, failures, { ...bindings, ...more })
        : guardedLogger(child, failures, bindings);
    },
  };
}

function asTexts(fields: object): object {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, typeof value === 'number' ? value : messageOf(value)]),
  );
}
