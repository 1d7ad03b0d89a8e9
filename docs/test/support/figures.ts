import { filesBelow, textOf } from './pages.js';

interface Figure {
  readonly value: number | null;
  readonly unit: string;
  readonly spread?: readonly [number, number];
  readonly bar?: { readonly atLeast: number } | { readonly atMost: number };
}
interface Results {
  readonly date: string;
  readonly figures: Readonly<Record<string, Figure>>;
}

/** What a table of figures shows: what was measured, in words, and its name in the results of the benchmarks. */
const ROWS: readonly (readonly [string, string])[] = [
  ['throughput over hand-written RxJS, 1,000 keys', 'throughput_vs_rxjs_map_1k'],
  ['throughput over hand-written RxJS, 100,000 keys', 'throughput_vs_rxjs_map_100k'],
  ['throughput over `groupBy` + `scan`, 1,000 keys', 'throughput_vs_rxjs_groupby_1k'],
  ['throughput over `groupBy` + `scan`, 100,000 keys', 'throughput_vs_rxjs_groupby_100k'],
  ['share of throughput that a checkpoint every second takes, 100,000 keys', 'checkpoint_overhead'],
  ['throughput with a checkpoint every 100 ms, all 100,000 keys changed, over none', 'interval_sweep_100ms'],
  ['what checkpoints add to the longest stall, 1,000,000 keys', 'stall_ms_1m_keys'],
  ['restoring 1,000,000 keys', 'restore_s_1m_keys'],
  ['stopping with a savepoint and running at another parallelism', 'rescale_s_1m_keys'],
  ['source to sink at 1,000 records/s, 99th percentile', 'latency_p99_ms_1krps'],
  ['a loop over the same loop with `expand`', 'cycle_throughput_vs_rxjs_expand'],
  ['RocksDB over RxJS with better-sqlite3, 1,000,000 keys', 'rocksdb_vs_rxjs_better_sqlite'],
  ['RocksDB over memory, where the keys that matter fit its cache', 'rocksdb_hot_vs_memory'],
  [
    'bytes of an incremental checkpoint after 1 % has changed, over a full one: RocksDB',
    'incremental_bytes_ratio_rocksdb',
  ],
  ['the same with state in memory', 'incremental_bytes_ratio_memory'],
];

/** A page with its tables of figures as the newest measurement of each figure has them. */
export function withFigures(page: string): string {
  return page.replace(
    /(<!-- figures -->\n\n)[^]*?(\n\n<!-- end -->)/g,
    (_, start: string, end: string) => start + table() + end,
  );
}

function table(): string {
  const results = filesBelow('benchmarks/results')
    .filter((file) => file.endsWith('.json'))
    .map((file) => JSON.parse(textOf(file)) as Results)
    .sort((a, b) => a.date.localeCompare(b.date));
  const rows = ROWS.map(([what, name]) => {
    const figure = results.findLast(({ figures }) => typeof figures[name]?.value === 'number')?.figures[name];
    if (figure === undefined) throw new Error(`nobody has measured ${name}`);
    return [what, valueOf(figure), spreadOf(figure), barOf(figure)];
  });
  const cells = [['', 'median', 'runs were between', 'bar'], ...rows];
  const widths = cells[0]!.map((_, i) => Math.max(3, ...cells.map((row) => row[i]!.length)));
  const line = (row: readonly string[]): string => `| ${row.map((cell, i) => cell.padEnd(widths[i]!)).join(' | ')} |`;
  return [line(cells[0]!), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}

const UNITS: Readonly<Record<string, string>> = { ratio: '', share: '' };

function valueOf({ value, unit }: Figure): string {
  return `${round(value!)} ${UNITS[unit] ?? unit}`.trim();
}

function spreadOf({ spread }: Figure): string {
  return spread === undefined ? '' : `${round(spread[0])} and ${round(spread[1])}`;
}

function barOf({ value, bar }: Figure): string {
  if (bar === undefined) return '';
  const [text, isMet] =
    'atLeast' in bar
      ? [`at least ${String(bar.atLeast)}`, value! >= bar.atLeast]
      : [`at most ${String(bar.atMost)}`, value! <= bar.atMost];
  return isMet ? text : `${text}: missed`;
}

function round(value: number): string {
  return String(Number(value.toPrecision(2)));
}
