import type { RocksDatabase, RocksDriver } from '../../src/driver/rocks-driver.js';

/** The same driver, which counts what is asked of its databases. */
export interface CountingDriver extends RocksDriver {
  /** How often the method was called since the last time of asking. */
  calls(method: keyof RocksDatabase): number;
  /** What a method does before it does its work; one that gives a promise may be held up by another. */
  before(method: keyof RocksDatabase, action: () => void | Promise<void>): void;
}

export function countingDriver(driver: RocksDriver): CountingDriver {
  const counts = new Map<PropertyKey, number>();
  const actions = new Map<PropertyKey, () => void | Promise<void>>();
  return {
    libraryVersion: driver.libraryVersion,
    open: (directory, options) =>
      new Proxy(driver.open(directory, options), {
        get(database, name) {
          const method = Reflect.get(database, name, database) as (...args: unknown[]) => unknown;
          return (...args: unknown[]) => {
            counts.set(name, (counts.get(name) ?? 0) + 1);
            const held = actions.get(name)?.();
            if (held === undefined) return method.apply(database, args);
            const copies = args.map((arg) => (arg instanceof Uint8Array ? arg.slice() : arg));
            return held.then(() => method.apply(database, copies));
          };
        },
      }),
    calls(method) {
      const count = counts.get(method) ?? 0;
      counts.set(method, 0);
      return count;
    },
    before(method, action) {
      actions.set(method, action);
    },
  };
}
