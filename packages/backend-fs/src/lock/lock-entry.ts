import type { AttemptNumber } from '@weir/core/contracts';
import type { ProcessIdentity } from '../adapters/process-identity.js';

/** What the name of the entry in `_lock` says. */
export interface LockEntry {
  /** The latest attempt that any owner recorded, 0 if none. */
  readonly attempt: AttemptNumber;
  /** Undefined: nobody has the lock. */
  readonly owner: LockOwner | undefined;
}
export interface LockOwner {
  readonly process: ProcessIdentity;
  /** When it took the lock, epoch ms. */
  readonly since: number;
  /** Random: one process may own the lock twice in its life, but never under one name. */
  readonly token: string;
}

export function formatEntry({ attempt, owner }: LockEntry): string {
  const prefix = `attempt-${String(attempt)}`;
  if (owner === undefined) return `${prefix}.free`;
  const { pid, startedAt, bootId, pidNamespace, host } = owner.process;
  return `${prefix}.pid-${String(pid)}.start-${startedAt}.boot-${bootId}.ns-${pidNamespace}.host-${host}.since-${String(owner.since)}.token-${owner.token}`;
}

const ENTRY =
  /^attempt-(?<attempt>\d+)\.(?:free|pid-(?<pid>\d+)\.start-(?<startedAt>\d*)\.boot-(?<bootId>[\w-]*)\.ns-(?<pidNamespace>\d*)\.host-(?<host>[\w-]*)\.since-(?<since>\d+)\.token-(?<token>[\w-]+))$/;

/** Undefined for a name that is no entry, also for numbers that nobody writes: renaming such an entry would never find it. */
export function parseEntry(name: string): LockEntry | undefined {
  const entry = read(name);
  return entry !== undefined && formatEntry(entry) === name ? entry : undefined;
}

function read(name: string): LockEntry | undefined {
  const parts = ENTRY.exec(name)?.groups;
  if (parts === undefined) return undefined;
  const { attempt, pid, startedAt = '', bootId = '', pidNamespace = '', host = '', since, token } = parts;
  if (![attempt, pid ?? 0, since ?? 0].every((number) => Number.isSafeInteger(Number(number)))) return undefined;
  if (token === undefined) return { attempt: Number(attempt), owner: undefined };
  const process = { pid: Number(pid), startedAt, bootId, pidNamespace, host };
  return { attempt: Number(attempt), owner: { process, since: Number(since), token } };
}
