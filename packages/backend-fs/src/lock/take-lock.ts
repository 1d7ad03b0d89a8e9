import { WeirError, sleep, type Clock, type JobName } from '@weir/core/contracts';
import { isVisible, type ProcessIdentity, type ProcessTable } from '../adapters/process-identity.js';
import { formatEntry, type LockEntry } from './lock-entry.js';
import type { LockRegister } from './lock-register.js';

export interface LockRequest {
  readonly register: LockRegister;
  readonly job: JobName;
  readonly clock: Clock;
  readonly processes: ProcessTable;
  readonly newId: () => string;
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

/** How often the owner is looked at while it is waited for. */
const POLL_MS = 100;

/** Waits until the lock is free or its owner dead, and takes it. Returns the entry that is now in the lock, with the attempt of the owner before. */
export async function takeLock(request: LockRequest): Promise<LockEntry> {
  const { register, clock, processes, newId, waitMs, signal } = request;
  const deadline = clock.monotonic() + waitMs;
  for (;;) {
    signal.throwIfAborted();
    const mine = { process: processes.self, since: Math.floor(clock.now()), token: newId() };
    const present = decide(await register.read(), processes);
    switch (present.kind) {
      case 'absent': {
        const entry = { attempt: 0, owner: mine };
        if (await register.create(entry, newId())) return entry;
        continue;
      }
      case 'takeable': {
        const entry = { attempt: present.entry.attempt, owner: mine };
        if (!(await register.replace(present.entry, entry))) continue;
        for (const other of present.others) await register.remove(other);
        return entry;
      }
      case 'held': {
        const left = deadline - clock.monotonic();
        if (left <= 0) throw locked(request, present.entry);
        await sleep(clock, Math.min(POLL_MS, left), signal);
      }
    }
  }
}

export type LockState =
  | { readonly kind: 'absent' }
  /** Free, or of a dead owner. */
  | { readonly kind: 'takeable'; readonly entry: LockEntry; readonly others: readonly LockEntry[] }
  | { readonly kind: 'held'; readonly entry: LockEntry };

/** Entries are taken in one order by everybody, the latest attempt first, so that of several only one can become the lock. */
export function decide(entries: readonly LockEntry[], processes: ProcessTable): LockState {
  const held = entries.find(({ owner }) => owner !== undefined && processes.isAlive(owner.process));
  if (held !== undefined) return { kind: 'held', entry: held };
  const [entry, ...others] = [...entries].sort((a, b) => b.attempt - a.attempt || compareOwners(a, b));
  return entry === undefined ? { kind: 'absent' } : { kind: 'takeable', entry, others };
}

function compareOwners(a: LockEntry, b: LockEntry): number {
  const [one, two] = [a.owner?.token ?? '', b.owner?.token ?? ''];
  return one < two ? 1 : one > two ? -1 : 0;
}

function locked(request: LockRequest, entry: LockEntry): WeirError {
  const { register, job, processes, waitMs } = request;
  const { owner } = entry;
  if (owner !== undefined && !isVisible(owner.process, processes.self)) return unseen(request, entry, owner.process);
  const { pid } = owner?.process ?? {};
  const who = pid === processes.self.pid ? `this process (${String(pid)})` : `process ${String(pid)}`;
  const since = new Date(owner?.since ?? 0).toISOString();
  return new WeirError(
    'STORAGE_LOCKED',
    `Job ${job} is run by ${who}, which has held ${register.path} since ${since}; waited ${String(waitMs)} ms. Stop it, or give this job another name or another checkpoint directory.`,
  );
}

/** Nobody but the user can know whether that process lives. */
function unseen({ register, job, waitMs }: LockRequest, entry: LockEntry, { pid, host }: ProcessIdentity): WeirError {
  const [held, free] = [entry, { ...entry, owner: undefined }].map((each) => `'${register.path}/${formatEntry(each)}'`);
  const since = new Date(entry.owner?.since ?? 0).toISOString();
  return new WeirError(
    'STORAGE_LOCKED',
    `Job ${job} is run by process ${String(pid)} of host or container '${host}', which has held ${register.path} since ${since} and cannot be seen from here: it may be running; waited ${String(waitMs)} ms. Stop it. If you know that it is dead, take its lock over: mv ${held!} ${free!}`,
  );
}
