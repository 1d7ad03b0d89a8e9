import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** So that the name of a lock's entry stays shorter than the 255 bytes that file systems allow. */
const LONGEST_HOST = 40;

/** A process, also after its number was given to another one or the machine was started again. */
export interface ProcessIdentity {
  readonly pid: number;
  /** When it started, in the kernel's unit; empty where the kernel does not say. */
  readonly startedAt: string;
  /** This start of the machine; empty where the kernel does not say. */
  readonly bootId: string;
  /** The container whose numbers of processes it is one of: the inode of its pid namespace; empty where there are none. */
  readonly pidNamespace: string;
  /** The name of its machine or container, for a person and to tell machines apart: letters, digits and `-`. */
  readonly host: string;
}
/** Who this process is, and which others live. */
export interface ProcessTable {
  readonly self: ProcessIdentity;
  /** True also for one that cannot be seen from here. */
  isAlive(process: ProcessIdentity): boolean;
}

/** The processes of this machine: exact on Linux; elsewhere a process counts as alive while any process has its number. */
export const systemProcesses: ProcessTable = {
  get self() {
    return identityOf(process.pid);
  },
  isAlive(other) {
    const { self } = systemProcesses;
    if (!isVisible(other, self)) return true;
    if (other.bootId !== self.bootId) return false;
    if (!hasNumber(other.pid)) return false;
    const status = statusOf(other.pid);
    if (status === undefined) return true;
    return !status.ended && (other.startedAt === '' || other.startedAt === status.startedAt);
  },
};

/**
 * Whether `self` can know if the other lives: a process of the same machine and pid namespace, or one of this host before the machine was started
 * again. In another container, or on another machine, the same number is another process.
 */
export function isVisible(other: ProcessIdentity, self: ProcessIdentity): boolean {
  return other.bootId === self.bootId ? other.pidNamespace === self.pidNamespace : other.host === self.host;
}

/** The process that has the number now. */
export function identityOf(pid: number): ProcessIdentity {
  return {
    pid,
    startedAt: statusOf(pid)?.startedAt ?? '',
    bootId: bootId(),
    pidNamespace: pidNamespace(),
    host: hostname()
      .replaceAll(/[^A-Za-z0-9-]/g, '-')
      .slice(0, LONGEST_HOST),
  };
}

/** Reads /proc/<pid>/stat: the state is field 3, the start in clock ticks since the boot field 22 (man 5 proc_pid_stat). */
export function parseProcessStatus(stat: string): { readonly ended: boolean; readonly startedAt: string } | undefined {
  // Field 2 is the program's name in parentheses, which may itself hold blanks and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const state = fields[0];
  const startedAt = fields[19];
  if (state === undefined || startedAt === undefined || !/^\d+$/.test(startedAt)) return undefined;
  // A killed process whose parent has not asked for it yet is still listed, as a zombie.
  return { ended: state === 'Z' || state === 'X', startedAt };
}

function statusOf(pid: number): ReturnType<typeof parseProcessStatus> {
  const stat = readText(`/proc/${String(pid)}/stat`);
  return stat === undefined ? undefined : parseProcessStatus(stat);
}

function bootId(): string {
  return readText('/proc/sys/kernel/random/boot_id')?.trim() ?? '';
}

/** `pid:[4026531836]` (man 7 namespaces). */
function pidNamespace(): string {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '';
  } catch {
    return '';
  }
}

function hasNumber(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Not being allowed to send it a signal means that it is there.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
