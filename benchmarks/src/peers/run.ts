import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { engineOf } from './engines.js';
import type { Order } from './program/meter.js';

/** The line that a program printed, and what was seen from outside. Names of fields are those of the programs in all languages. */
export interface Line {
  readonly engine: string;
  readonly mode: string;
  readonly K: number;
  readonly N: number;
  readonly p: number;
  readonly round: number;
  /** Of the machine, before the run. */
  readonly load: number;
  readonly error?: string | undefined;
  readonly ok?: boolean | undefined;
  readonly wallMs?: number | undefined;
  readonly cpuMs?: number | undefined;
  readonly steadyRecords?: number | undefined;
  readonly steadyWallMs?: number | undefined;
  readonly steadyCpuMs?: number | undefined;
  readonly count?: number | undefined;
  readonly checksum?: number | undefined;
  readonly checkpoints?: number | null | undefined;
  readonly ckptMeanMs?: number | null | undefined;
  readonly ckptMaxMs?: number | null | undefined;
  readonly startupMs?: number | undefined;
  readonly restoreTotalMs?: number | undefined;
  readonly restoreJobMs?: number | undefined;
  readonly peakRssMiB?: number | null | undefined;
  readonly version?: string | undefined;
}

/** Runs a program in a process of its own. One that fails or takes longer is a line with `error`. */
export async function runProgram(order: Order, round: number, timeoutMs: number): Promise<Line> {
  const { engine, keys, count, parallelism, mode } = order;
  const { command, args } = engineOf(engine);
  const load = loadavg()[0]!;
  const dir = join(tmpdir(), `weir-peers-${String(process.pid)}`, engine);
  const child = spawn(command, [...args, engine, ...[keys, count, parallelism].map(String), mode], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, BENCH_DIR: dir, BENCH_T0: String(Date.now()) },
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => {
      resolve(String(error));
    });
    child.once('close', (code, signal) => {
      resolve(`exit ${String(code ?? signal)}`);
    });
  });
  const [out, err, end] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  clearTimeout(timer);
  if (mode !== 'fill') rmSync(dir, { recursive: true, force: true });
  const printed = out.split('\n').findLast((line) => line.startsWith('{"engine"'));
  const seen = { engine, mode, K: keys, N: count, p: parallelism, round, load };
  return printed === undefined
    ? { ...seen, error: `${end}: ${err.slice(-600)}` }
    : { ...(JSON.parse(printed) as object), ...seen };
}
