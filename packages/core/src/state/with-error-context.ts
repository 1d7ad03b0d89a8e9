import type { Serializer } from '../contracts/serializer.js';
import type { OperatorUid } from '../element/ids.js';
import { WeirError, isWeirError } from '../errors.js';

/** The same serializer, whose refusals (VALUE_NOT_SERIALIZABLE) also name the operator and the state. Restarting does not help against them. */
export function withErrorContext<T>(serializer: Serializer<T>, operator: OperatorUid, state: string): Serializer<T> {
  return {
    id: serializer.id,
    version: serializer.version,
    encode(value, out) {
      try {
        serializer.encode(value, out);
      } catch (error) {
        if (!isWeirError(error, 'VALUE_NOT_SERIALIZABLE')) throw error;
        const reason = error.message.slice(`${error.code}: `.length);
        throw new WeirError('VALUE_NOT_SERIALIZABLE', `state '${state}' of operator '${operator}': ${reason}`, {
          cause: error,
          recoverable: false,
        });
      }
    },
    decode: (from) => serializer.decode(from),
    ...(serializer.migrate && { migrate: serializer.migrate.bind(serializer) }),
    ...(serializer.readerOf && { readerOf: serializer.readerOf.bind(serializer) }),
  };
}
