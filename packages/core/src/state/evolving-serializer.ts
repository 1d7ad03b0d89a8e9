import type { Serializer, SerializerRef } from '../contracts/serializer.js';
import type { ByteReader } from '../element/bytes.js';
import { WeirError, messageOf } from '../errors.js';
import type { Evolution } from './evolution.js';
import type { SchemaCheck } from './schema-check.js';
import { readerOf } from './stored-by.js';
import { idWithVersion, storedVersion } from './value-version.js';

/**
 * A serializer that writes values of the present version, and reads those of older ones through the steps between (Flink: TypeSerializerSnapshot,
 * compatible after migration). `placed` is of `withErrorContext`; `state` names the state in errors. What is no restore is as fast as without.
 */
export function evolvingSerializer<T>(
  placed: Serializer<T>,
  { version, migrate }: Pick<Evolution, 'version' | 'migrate'>,
  schema: SchemaCheck | undefined,
  state: string,
): Serializer<T> {
  return {
    ...placed,
    id: idWithVersion(placed.id, version),
    readerOf(stored: SerializerRef, what: string): (from: ByteReader) => T {
      const written = storedVersion(stored);
      const { decode } = readerOf(placed, written.serializer, what);
      const steps = stepsBetween(written.version, version, migrate, what);
      if (steps.length === 0 && schema === undefined) return decode;
      return (from) => {
        let value: unknown = decode(from);
        for (const [at, step] of steps) value = taken(step, at, value, state);
        schema?.require(value);
        // What the last step gives is what the state declares; the schema is there for those who want that checked.
        return value as T;
      };
    },
  };
}

type Steps = readonly (readonly [version: number, step: (value: unknown) => unknown])[];

function stepsBetween(stored: number, declared: number, migrate: Evolution['migrate'], what: string): Steps {
  if (stored > declared) {
    throw mismatch(
      `${what} was stored in version ${String(stored)}, which is newer than the declared version ${String(declared)}. ` +
        `Restore it with the program that stored it, or a later one.`,
    );
  }
  return Array.from({ length: declared - stored }, (_, i) => {
    const at = stored + i;
    const step = migrate[at];
    if (step !== undefined) return [at, step];
    throw mismatch(
      `${what} was stored in version ${String(stored)} and is declared in version ${String(declared)}, and no step leads from version ` +
        `${String(at)} to ${String(at + 1)}. Add it: migrate: { ${String(at)}: (value) => ... }.`,
    );
  });
}

function taken(step: (value: unknown) => unknown, at: number, value: unknown, state: string): unknown {
  try {
    const next = step(value);
    if (!(next instanceof Promise)) return next;
    // Nobody will wait for it.
    next.catch(() => undefined);
    throw new TypeError('it gave a promise, and a step is synchronous');
  } catch (cause) {
    throw new WeirError(
      'STATE_MIGRATION_FAILED',
      `The step of ${state} from version ${String(at)} to ${String(at + 1)} failed: ${messageOf(cause)}. Nothing that is stored was changed: correct the step and start again.`,
      { cause, recoverable: false },
    );
  }
}

function mismatch(message: string): WeirError {
  return new WeirError('STATE_VERSION_MISMATCH', message, { recoverable: false });
}
