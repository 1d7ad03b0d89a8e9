import { median } from '../statistics.js';
import type { Line } from './run.js';

/** The tables of a result: medians with the smallest and the largest, and weir over each. */
export function tablesOf(lines: readonly Line[]): string {
  const runs = lines.filter(({ mode, error }) => mode === 'run' && error === undefined);
  const keys = [...new Set(runs.map(({ K }) => K))].toSorted((a, b) => a - b);
  const failed = lines.filter(({ error, ok }) => error !== undefined || ok === false);
  return [
    ...keys.map((each) =>
      throughputTable(
        each,
        runs.filter(({ K }) => K === each),
      ),
    ),
    ...restoreTable(lines.filter(({ mode, error }) => mode === 'restore' && error === undefined)),
    `${String(lines.length)} runs, ${String(failed.length)} of them failed or wrong`,
    ...failed.map((line) => `  ${line.mode} ${nameOf(line)} ${String(line.K)}: ${line.error ?? 'wrong sums'}`),
    ...new Set(lines.flatMap(({ version }) => (version === undefined ? [] : [`  ${version}`]))),
  ].join('\n');
}

function throughputTable(keys: number, runs: readonly Line[]): string {
  const engines = [...byName(runs)].toSorted(([, a], [, b]) => steadyCpu(b) - steadyCpu(a));
  const of = new Map(engines);
  const rows = engines.map(([name, lines]) => {
    const weir = of.get(name.includes('rocksdb') ? 'weir-rocksdb' : 'weir-fs');
    const over = (rate: (lines: readonly Line[]) => number): string =>
      weir === undefined ? '' : (rate(weir) / rate(lines)).toFixed(2);
    const mean = numbers(lines, 'ckptMeanMs');
    return [
      name,
      String(lines.length),
      millions(lines.map((line) => perSecond(line, 'steadyCpuMs'))),
      millions(lines.map((line) => perSecond(line, 'steadyWallMs'))),
      over(steadyCpu),
      over(steadyWall),
      mean.length === 0 ? '-' : `${median(mean).toFixed(0)} / ${Math.max(...numbers(lines, 'ckptMaxMs')).toFixed(0)}`,
      middle(lines, 'startupMs'),
      middle(lines, 'peakRssMiB'),
      lines.every(({ ok }) => ok === true) ? 'yes' : 'NO',
    ];
  });
  const head = ['engine', 'runs', 'M/CPU-s', 'M/s', 'weir / it, CPU', 'weir / it, wall'];
  const title = `## ${keys.toLocaleString('en')} keys: million records per CPU-second and per second, from a quarter of them on`;
  return `${title}\n\n${table([...head, 'checkpoint ms, mean / max', 'start ms', 'peak MiB', 'sums right'], rows)}\n`;
}

function restoreTable(lines: readonly Line[]): readonly string[] {
  if (lines.length === 0) return [];
  const rows = [...byName(lines)].map(([name, of]) => [
    name,
    String(of.length),
    middle(of, 'restoreTotalMs'),
    middle(of, 'restoreJobMs'),
    middle(of, 'peakRssMiB'),
    of.every(({ ok }) => ok === true) ? 'yes' : 'NO',
  ]);
  const head = ['engine', 'runs', 'from process start, ms', 'from job start, ms', 'peak MiB', 'state proved'];
  return [`## Restore of 1,000,000 keys, until the first output\n\n${table(head, rows)}\n`];
}

function byName(lines: readonly Line[]): ReadonlyMap<string, readonly Line[]> {
  const groups = new Map<string, Line[]>();
  for (const line of lines) groups.set(nameOf(line), [...(groups.get(nameOf(line)) ?? []), line]);
  return groups;
}

function nameOf({ engine, p }: Line): string {
  return p === 1 ? engine : `${engine} p=${String(p)}`;
}

function perSecond(line: Line, time: 'steadyCpuMs' | 'steadyWallMs'): number {
  return (line.steadyRecords! / line[time]!) * 1000;
}
const steadyCpu = (lines: readonly Line[]): number => median(lines.map((line) => perSecond(line, 'steadyCpuMs')));
const steadyWall = (lines: readonly Line[]): number => median(lines.map((line) => perSecond(line, 'steadyWallMs')));

function numbers(lines: readonly Line[], field: keyof Line): readonly number[] {
  return lines.map((line) => line[field]).filter((value) => typeof value === 'number');
}
function middle(lines: readonly Line[], field: keyof Line): string {
  const values = numbers(lines, field);
  return values.length === 0 ? '-' : median(values).toFixed(0);
}
function millions(rates: readonly number[]): string {
  const [low, mid, high] = [Math.min(...rates), median(rates), Math.max(...rates)].map((rate) =>
    (rate / 1e6).toFixed(2),
  );
  return `${String(mid)} (${String(low)} - ${String(high)})`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, i) => Math.max(title.length, ...rows.map((row) => row[i]!.length)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, i) => cell.padEnd(widths[i]!)).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}
