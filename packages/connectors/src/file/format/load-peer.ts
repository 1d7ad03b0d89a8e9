import { messageOf, WeirError } from '@weir/core/contracts';

/** What an optional package is needed for, and how it is checked. */
export interface Peer<M> {
  /** What needs it: 'parquet()'. */
  readonly user: string;
  /** The packages to install, as npm takes them. */
  readonly packages: string;
  readonly load: () => Promise<M>;
  /** False: the version that is installed lacks something. */
  readonly fits: (module: M) => boolean;
}

/** Loads an optional package when it is first needed. Fails with CONNECTOR_PEER, which says what to install. */
export async function loadPeer<M>({ user, packages, load, fits }: Peer<M>): Promise<M> {
  let module: M;
  try {
    module = await load();
  } catch (error) {
    throw missing(`${user} needs packages that cannot be loaded (${messageOf(error)}): npm i ${packages}`, error);
  }
  if (!fits(module)) throw missing(`${user} needs newer packages than are installed: npm i ${packages}`);
  return module;
}

function missing(message: string, cause?: unknown): WeirError {
  return new WeirError('CONNECTOR_PEER', message, { cause, recoverable: false });
}
