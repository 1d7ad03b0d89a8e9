import { rxjsLevel, rxjsSqlite } from '../compared/stores.js';
import { paired, withCheckpoints } from '../figure.js';
import type { StateChoice } from '../job.js';
import type { Report } from '../report.js';
import { median, round } from '../statistics.js';
import { measureWindow, type WindowResult } from '../window.js';
import { workload, zipf, type Input } from '../workload.js';

const PAIRS = 3;
const KEYS = 1_000_000;
const COMPARED_MS = 5000;
/** Enough for ten checkpoints, of which some take longer than a second. */
const MS = 14_000;
/** A tenth of 1,000,000 rows of 100 bytes, all that either side keeps in memory. */
const CACHE_BYTES = 10_000_000;
/** The same in three parts: live values, blocks of files, and what is to become a file. */
const TENTH: StateChoice = { rocksdb: { cacheSize: 4_000_000, blockCacheSize: 2_000_000, memtableSize: 4_000_000 } };

/**
 * Read, add, write back, on disk: weir on RocksDB with a checkpoint every second over the same loop in RxJS with better-sqlite3, and over
 * classic-level, with caches of the same size; then what RocksDB costs over memory where the keys that matter fit its cache.
 */
export async function rocksdb(report: Report): Promise<void> {
  for (const [name, records, bar] of [
    ['', zipf(KEYS), { atLeast: 2 }],
    ['_uniform', workload('string', KEYS), undefined],
  ] as const) {
    const overSqlite: number[] = [];
    const overLevel: number[] = [];
    const windows: WindowResult[] = [];
    for (let pair = 0; pair < PAIRS; pair++) {
      const sqlite = rxjsSqlite(records, CACHE_BYTES, COMPARED_MS);
      const window = await inRocks(records, TENTH, true);
      const level = await rxjsLevel(records, CACHE_BYTES, COMPARED_MS);
      windows.push(window);
      overSqlite.push(window.recordsPerSecond / sqlite);
      overLevel.push(window.recordsPerSecond / level);
    }
    const details = { records_per_second: round(median(windows.map(({ recordsPerSecond }) => recordsPerSecond))) };
    const figure = (ratios: readonly number[]): Parameters<Report['add']>[1] =>
      withCheckpoints(paired(ratios, { unit: 'ratio', details }), windows);
    report.add(`rocksdb_vs_rxjs_better_sqlite${name}`, { ...figure(overSqlite), bar });
    report.add(`rocksdb_vs_rxjs_classic_level${name}`, figure(overLevel));
  }
  await hot(report, zipf(KEYS));
}

async function hot(report: Report, records: readonly Input[]): Promise<void> {
  const ratios: number[] = [];
  const windows: WindowResult[] = [];
  for (let pair = 0; pair < PAIRS; pair++) {
    const memory = await measureWindow({ records }, true);
    // Nine of ten records have one of 60,000 keys, for which its own sizes are large enough.
    const window = await inRocks(records, { rocksdb: {} }, false);
    windows.push(memory, window);
    ratios.push(window.recordsPerSecond / memory.recordsPerSecond);
  }
  report.add(
    'rocksdb_hot_vs_memory',
    withCheckpoints(paired(ratios, { unit: 'ratio', bar: { atLeast: 0.5 } }), windows),
  );
}

function inRocks(records: readonly Input[], state: StateChoice, texts: boolean): Promise<WindowResult> {
  return measureWindow({ records, state, texts, checkpointing: { incremental: true } }, true, MS);
}
