import { WeirError } from '../errors.js';

/** Calls `install`, which must be done when it returns: `void` in the contract lets an async method through, whose candidates would come too late. */
export function installNow(plugin: string, install: () => unknown): void {
  const returned = install();
  if (!(returned instanceof Promise)) return;
  returned.catch(() => undefined);
  throw new WeirError('PLUGIN_INVALID', `${plugin}: install must not be asynchronous`, { recoverable: false });
}
