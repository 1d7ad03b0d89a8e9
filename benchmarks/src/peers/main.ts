import { appendFileSync, mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { expectedOf } from './expected.js';
import { engineOf, FOLDER } from './engines.js';
import { isWanted, KEYS, PLAN, planned, RESTORED } from './plan.js';
import type { Order } from './program/meter.js';
import { runProgram, type Line } from './run.js';
import { tablesOf } from './tables.js';

const RESTORED_KEYS = 1_000_000;

/** Runs the same job in every engine that is there, one after another, each in a process of its own, and prints the tables. */
export async function peers(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: 'string', default: '1' },
      keys: { type: 'string', default: KEYS.join(',') },
      /** Beginnings of names, separated by commas. */
      engines: { type: 'string', default: '' },
      extra: { type: 'boolean', default: false },
      /** Of all numbers of records. */
      scale: { type: 'string', default: '1' },
      /** Seconds for one run. */
      timeout: { type: 'string', default: '120' },
      'no-restore': { type: 'boolean', default: false },
      out: { type: 'string', default: `${FOLDER}results.jsonl` },
    },
  });
  const beginnings = values.engines.split(',').filter((beginning) => beginning !== '');
  const keyCounts = values.keys.split(',').map(Number);
  const out = resolve(values.out);
  mkdirSync(dirname(out), { recursive: true });
  const plan = planned(beginnings, values.extra);
  sayWhatIsMissing(beginnings);
  if (plan.length === 0) throw new Error(`No engine to measure begins with ${beginnings.join(' or ')}.`);

  const lines: Line[] = [];
  const run = async (order: Order, round: number): Promise<Line> => {
    const line = judged(await runProgram(order, round, Number(values.timeout) * 1000));
    lines.push(line);
    appendFileSync(out, `${JSON.stringify(line)}\n`);
    say(line);
    return line;
  };
  const count = (each: number): number => Math.floor((each * Number(values.scale)) / 100) * 100;

  for (let round = 0; round < Number(values.rounds); round++) {
    for (const [i, keys] of keyCounts.entries()) {
      const column = KEYS.findIndex((each) => each === keys);
      if (column < 0) throw new Error(`Choose keys from ${KEYS.join(', ')}.`);
      for (const { engine, parallelism, counts } of rotated(plan, round * 5 + i * 3)) {
        const records = count(counts[column]!);
        if (records > 0) await run({ engine, keys, count: records, parallelism, mode: 'run' }, round);
      }
    }
    if (values['no-restore']) continue;
    const restored = RESTORED.filter((engine) => isWanted(engine, beginnings) && engineOf(engine).isThere);
    for (const engine of rotated(restored, round)) {
      const order = { engine, keys: RESTORED_KEYS, count: RESTORED_KEYS, parallelism: 1 };
      const filled = await run({ ...order, mode: 'fill' }, round);
      if (filled.error === undefined) await run({ ...order, mode: 'restore' }, round);
    }
  }
  console.log(tablesOf(lines));
  if (lines.some(({ error, ok }) => error !== undefined || ok === false)) process.exitCode = 1;
  console.error(`written to ${out}`);
}

function judged(line: Line): Line {
  if (line.mode !== 'run' || line.error !== undefined) return line;
  const { K, N, engine, checksum, count } = line;
  const known = expectedOf(K, [N]).get(N)!;
  // One update for a key in each of its small batches: only the sums at the end are those of the others.
  if (engine.startsWith('pathway')) return { ...line, ok: checksum === known.finalSum };
  return { ...line, ok: checksum === known.checksum && count === known.count };
}

function rotated<T>(list: readonly T[], by: number): readonly T[] {
  const at = list.length === 0 ? 0 : by % list.length;
  return [...list.slice(at), ...list.slice(0, at)];
}

function sayWhatIsMissing(beginnings: readonly string[]): void {
  const missing = PLAN.map(({ engine }) => engine).filter(
    (engine) => isWanted(engine, beginnings) && !engineOf(engine).isThere,
  );
  const families = [...new Set(missing.map((engine) => engine.split('-')[0]))];
  if (families.length > 0) console.error(`not built, see benchmarks/peers/README.md: ${families.join(', ')}`);
}

function say(line: Line): void {
  const { engine, mode, K, p, error, ok, steadyRecords, steadyCpuMs, steadyWallMs, restoreTotalMs } = line;
  const rate = (ms: number | undefined): string => ((steadyRecords ?? 0) / (ms ?? 1) / 1000).toFixed(2);
  const what =
    error ??
    (mode === 'run'
      ? `${rate(steadyCpuMs)} M/CPU-s, ${rate(steadyWallMs)} M/s, ${ok === true ? 'sums right' : 'SUMS WRONG'}`
      : mode === 'restore'
        ? `${String(restoreTotalMs)} ms, ${ok === true ? 'state proved' : 'STATE WRONG'}`
        : 'filled');
  console.error(`${mode} ${engine} p=${String(p)} ${String(K)} keys: ${what}`);
}
