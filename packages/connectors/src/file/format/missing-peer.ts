import { messageOf, WeirError } from '@weir/core/contracts';

/** Optional packages, and what needs them. */
export interface Peers {
  /** What needs them: 'parquet()'. */
  readonly user: string;
  /** As npm takes them. */
  readonly packages: string;
}

/** CONNECTOR_PEER: an optional package cannot be loaded. Says what to install. */
export function missingPeer({ user, packages }: Peers, cause: unknown): WeirError {
  return peerError(`${user} needs packages that cannot be loaded (${messageOf(cause)}): npm i ${packages}`, cause);
}

/** CONNECTOR_PEER: an optional package is installed, and lacks something. */
export function outdatedPeer({ user, packages }: Peers): WeirError {
  return peerError(`${user} needs newer packages than are installed: npm i ${packages}`);
}

function peerError(message: string, cause?: unknown): WeirError {
  return new WeirError('CONNECTOR_PEER', message, { cause, recoverable: false });
}
