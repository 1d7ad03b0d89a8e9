import type { Serializer, SerializerRef } from '../contracts/serializer.js';
import { WeirError } from '../errors.js';
import { defaultSerializer } from '../state/default-serializer.js';
import { unstampedRef } from '../state/stamped-serializer.js';
import { storedVersion } from '../state/value-version.js';
import { v8Serializer } from '../state/v8-serializer.js';

/** Serializers by their ids: weir's own and those that the reader was given. */
export class KnownSerializers {
  readonly #byId: ReadonlyMap<string, Serializer>;

  constructor(given: readonly Serializer[] = []) {
    this.#byId = new Map([defaultSerializer, v8Serializer, ...given].map((serializer) => [serializer.id, serializer]));
  }

  /** SERIALIZER_MISMATCH naming the id if there is none. `what` names the stored bytes. */
  require(stored: SerializerRef, what: string): Serializer {
    const found = this.#find(stored);
    if (found !== undefined) return found;
    const { id, version } = storedVersion(unstampedRef(stored) ?? stored).serializer;
    throw new WeirError(
      'SERIALIZER_MISMATCH',
      `${what} was stored by serializer '${id}' version ${String(version)}. Give that to the reader: openCheckpoint(pointer, { storage, serializers: [...] }).`,
      { recoverable: false },
    );
  }

  /** One that fails no sooner than it is used: states that nobody reads need none. */
  orFailing(stored: SerializerRef, what: string): Serializer {
    const found = this.#find(stored);
    if (found !== undefined) return found;
    const fail = (): never => {
      this.require(stored, what);
      throw new Error('unreachable');
    };
    return { id: stored.id, version: stored.version, encode: fail, decode: fail };
  }

  /** Values of whatever version come as they are stored, and without the stamps of those that expire: only a job knows more of them. */
  #find(stored: SerializerRef): Serializer | undefined {
    const { id } = unstampedRef(stored) ?? stored;
    const found = this.#byId.get(storedVersion({ ...stored, id }).serializer.id);
    if (found === undefined || found.id === id) return found;
    return {
      id,
      version: found.version,
      encode: (value, out) => {
        found.encode(value, out);
      },
      decode: (from) => found.decode(from),
      ...(found.migrate && { migrate: found.migrate.bind(found) }),
    };
  }
}
