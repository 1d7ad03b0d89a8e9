import type { CheckpointOptions } from '@weir/core';
import type { StateBackend } from '@weir/core/contracts';
import { CrashFileSystem } from '@weir/testkit';
import { EVERY_STATE_JOB } from './every-state-job.js';
import type { Golden } from './golden-files.js';
import { rocksdb } from './rocksdb.js';

/** Of the job that made them. */
export const RECORDS = 60;

export interface Case {
  readonly name: string;
  readonly kind: 'checkpoint' | 'savepoint';
  /** State of more bytes lies in files of its own. */
  readonly inlineThreshold: number;
  readonly checkpointing: CheckpointOptions;
  /** Records that are read before each of the three. */
  readonly reads: readonly [number, number, number];
  /** Of the state by key. */
  readonly formats: readonly string[];
  /** How long a write of the job's sink takes. Default: no time. With it, records wait in front of it. */
  readonly writeMs?: number;
  /** Whose working state it was. Default: in memory. Undefined: the machine does not have it. */
  readonly backend?: StateBackend | undefined;
}

type Manner = Pick<Case, 'checkpointing' | 'reads' | 'formats' | 'backend' | 'writeMs'>;
const PLAIN: Manner = { checkpointing: {}, reads: [9, 9, 9], formats: ['canonical'] };
/** Few of the keys change at a time, so that it is not worth a new base. */
const CHANGES: Manner = { checkpointing: { incremental: true }, reads: [24, 2, 2], formats: ['canonical', 'changes'] };

/** Barriers overtake what waits, which is then in the checkpoint. */
const OVERTAKING: Manner = { ...PLAIN, checkpointing: { unaligned: true }, writeMs: 40 };
/** Files of RocksDB, which are never the same twice. */
const NATIVE: Manner = { ...CHANGES, formats: ['rocksdb'], backend: rocksdb };

const ALL: readonly Case[] = [
  { name: 'v1-checkpoint', kind: 'checkpoint', inlineThreshold: 0, ...PLAIN },
  { name: 'v1-savepoint', kind: 'savepoint', inlineThreshold: 20_000, ...PLAIN },
  { name: 'v1-changes', kind: 'checkpoint', inlineThreshold: 0, ...CHANGES },
  { name: 'v1-unaligned', kind: 'checkpoint', inlineThreshold: 0, ...OVERTAKING },
  { name: 'v1-rocksdb', kind: 'checkpoint', inlineThreshold: 0, ...NATIVE },
];

/** Those whose state backend the machine has. */
export const CASES: readonly Case[] = ALL.filter((each) => !('backend' in each) || each.backend !== undefined);

export async function namesIn(disk: CrashFileSystem, folder: string): Promise<readonly string[]> {
  return (await disk.readDirectory(folder)).map(({ name }) => name);
}

/** A disk with the files in it, and where they are. */
export async function loaded(
  stored: Golden,
  { kind }: Case,
): Promise<{ readonly disk: CrashFileSystem; readonly pointer: string }> {
  const disk = new CrashFileSystem();
  await stored.load(disk, '/golden');
  const folder = kind === 'checkpoint' ? `/golden/${EVERY_STATE_JOB}` : '/golden/savepoints';
  const name = (await namesIn(disk, folder)).find((each) => each !== 'shared');
  return { disk, pointer: `${folder}/${String(name)}` };
}
