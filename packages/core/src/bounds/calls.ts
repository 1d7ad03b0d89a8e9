/** Whose calls a time-out is set for. */
export type CallContract = 'storage' | 'source' | 'sink' | 'state';
/** In ms, of each call of a contract. */
export type CallTimeouts = Readonly<Record<CallContract, number>>;

/**
 * `total`: from the call to the answer. `without progress`: from the last sign that it moves to the next. `closing`: a quarter of the time-out, then it
 * is left behind. `none`: it waits for data, and ends when it is closed.
 */
export type CallBound = 'total' | 'without progress' | 'closing' | 'none';

export interface Call {
  readonly contract: CallContract;
  readonly bound: CallBound;
}

/** Every call of a contract that may keep the engine waiting. `docs/timeouts.md` says what follows; a test keeps the two equal. */
export const CALLS = {
  'storage.open': { contract: 'storage', bound: 'total' },
  'storage.lock': { contract: 'storage', bound: 'total' },
  'storage.recordAttempt': { contract: 'storage', bound: 'total' },
  'storage.verify': { contract: 'storage', bound: 'total' },
  'storage.release': { contract: 'storage', bound: 'closing' },
  'storage.list': { contract: 'storage', bound: 'total' },
  'storage.resolve': { contract: 'storage', bound: 'total' },
  'storage.create': { contract: 'storage', bound: 'total' },
  'storage.createSavepoint': { contract: 'storage', bound: 'total' },
  'storage.write': { contract: 'storage', bound: 'without progress' },
  'storage.finish': { contract: 'storage', bound: 'without progress' },
  'storage.abort': { contract: 'storage', bound: 'closing' },
  'storage.publish': { contract: 'storage', bound: 'total' },
  'storage.discard': { contract: 'storage', bound: 'total' },
  'storage.readMetadata': { contract: 'storage', bound: 'without progress' },
  'storage.read': { contract: 'storage', bound: 'without progress' },
  'storage.readPart': { contract: 'storage', bound: 'without progress' },
  'storage.listShared': { contract: 'storage', bound: 'total' },
  'storage.deleteShared': { contract: 'storage', bound: 'total' },
  'storage.delete': { contract: 'storage', bound: 'total' },
  'storage.readCommitted': { contract: 'storage', bound: 'total' },
  'storage.writeCommitted': { contract: 'storage', bound: 'total' },
  'storage.readFinished': { contract: 'storage', bound: 'total' },
  'storage.writeFinished': { contract: 'storage', bound: 'total' },
  'storage.clearFinished': { contract: 'storage', bound: 'total' },
  'storage.close': { contract: 'storage', bound: 'closing' },
  'source.start': { contract: 'source', bound: 'total' },
  'source.open': { contract: 'source', bound: 'total' },
  'source.poll': { contract: 'source', bound: 'none' },
  'source.completed': { contract: 'source', bound: 'total' },
  'source.closeReader': { contract: 'source', bound: 'closing' },
  'source.closeEnumerator': { contract: 'source', bound: 'closing' },
  'sink.destination': { contract: 'sink', bound: 'total' },
  'sink.prepare': { contract: 'sink', bound: 'total' },
  'sink.open': { contract: 'sink', bound: 'total' },
  'sink.committer': { contract: 'sink', bound: 'total' },
  'sink.write': { contract: 'sink', bound: 'without progress' },
  'sink.flush': { contract: 'sink', bound: 'total' },
  'sink.prepareCommit': { contract: 'sink', bound: 'total' },
  'sink.commit': { contract: 'sink', bound: 'total' },
  'sink.closeWriter': { contract: 'sink', bound: 'closing' },
  'sink.closeCommitter': { contract: 'sink', bound: 'closing' },
  'sink.jobEnded': { contract: 'sink', bound: 'closing' },
  'state.open': { contract: 'state', bound: 'total' },
  'state.restoreNative': { contract: 'state', bound: 'without progress' },
  'state.write': { contract: 'state', bound: 'without progress' },
  'state.close': { contract: 'state', bound: 'closing' },
} as const;

export type CallName = keyof typeof CALLS;

/** A call that is closing something gets this share of the time-out: an attempt has to end long before its cancellation times out. */
const CLOSING_SHARE = 0.25;

export function timeoutOf(call: CallName, timeouts: CallTimeouts): number {
  const { contract, bound }: Call = CALLS[call];
  return bound === 'closing' ? timeouts[contract] * CLOSING_SHARE : timeouts[contract];
}
