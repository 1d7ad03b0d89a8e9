import { rxjsLevel, rxjsSqlite } from '../compared/stores.js';
import { ratioOf, thereAndBack, type Ratio } from '../abba.js';
import { compared, withCheckpoints } from '../figure.js';
import type { StateChoice } from '../job.js';
import type { Report } from '../report.js';
import { median, round } from '../statistics.js';
import { measureInto, type WindowResult } from '../window.js';
import { workload, zipf, type Input } from '../workload.js';

const ROUNDS = 2;
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
    const overSqlite: Ratio[] = [];
    const overLevel: Ratio[] = [];
    const windows: WindowResult[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const { sqlite, weir, level } = await thereAndBack(round, {
        sqlite: () => rxjsSqlite(records, CACHE_BYTES, COMPARED_MS),
        weir: () => inRocks(windows, records, TENTH, true),
        level: () => rxjsLevel(records, CACHE_BYTES, COMPARED_MS),
      });
      overSqlite.push(ratioOf(weir, sqlite));
      overLevel.push(ratioOf(weir, level));
    }
    const details = { records_per_second: round(median(windows.map(({ recordsPerSecond }) => recordsPerSecond))) };
    const figure = (ratios: readonly Ratio[]): Parameters<Report['add']>[1] =>
      withCheckpoints(compared(ratios, { unit: 'ratio', details }), windows);
    report.add(`rocksdb_vs_rxjs_better_sqlite${name}`, { ...figure(overSqlite), bar });
    report.add(`rocksdb_vs_rxjs_classic_level${name}`, figure(overLevel));
  }
  await hot(report, zipf(KEYS));
}

async function hot(report: Report, records: readonly Input[]): Promise<void> {
  const ratios: Ratio[] = [];
  const windows: WindowResult[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const { memory, rocks } = await thereAndBack(round, {
      memory: () => measureInto(windows, { records }),
      // Nine of ten records have one of 60,000 keys, for which its own sizes are large enough.
      rocks: () => inRocks(windows, records, { rocksdb: {} }, false),
    });
    ratios.push(ratioOf(rocks, memory));
  }
  report.add(
    'rocksdb_hot_vs_memory',
    withCheckpoints(compared(ratios, { unit: 'ratio', bar: { atLeast: 0.5 } }), windows),
  );
}

function inRocks(
  windows: WindowResult[],
  records: readonly Input[],
  state: StateChoice,
  texts: boolean,
): Promise<WindowResult> {
  return measureInto(windows, { records, state, texts, checkpointing: { incremental: true } }, MS);
}
