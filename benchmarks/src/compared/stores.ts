import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { filter, map } from 'rxjs';
import { Stopwatch, type Rate } from '../rate.js';
import { timed } from '../rxjs-programs.js';
import { accept, project, textOf, totalIn, type Input, type Total } from '../workload.js';
import { loadCompared } from './install.js';

/** Of records that make one transaction, or one batch. */
const TRANSACTION = 1000;

interface Statement {
  get(...values: readonly unknown[]): { readonly text: string } | undefined;
  run(...values: readonly unknown[]): unknown;
}
interface Sqlite {
  pragma(text: string): unknown;
  exec(text: string): unknown;
  prepare(text: string): Statement;
  close(): void;
}
interface Level {
  open(): Promise<void>;
  getSync(key: string): string | undefined;
  batch(operations: readonly object[], options: { readonly sync: boolean }): Promise<void>;
  close(): Promise<void>;
}

/** The job by hand: RxJS operators and a table of better-sqlite3, in the write-ahead mode that survives the end of the process. */
export function rxjsSqlite(records: readonly Input[], cacheBytes: number, ms: number): Rate {
  const dir = mkdtempSync(join(tmpdir(), 'weir-bench-'));
  const Database = loadCompared('better-sqlite3') as new (path: string) => Sqlite;
  const db = new Database(join(dir, 'totals.db'));
  try {
    db.pragma('journal_mode = WAL');
    db.pragma('synchronous = NORMAL');
    db.pragma(`cache_size = -${String(Math.ceil(cacheBytes / 1024))}`);
    db.exec('CREATE TABLE totals (key TEXT PRIMARY KEY, text TEXT) WITHOUT ROWID');
    const read = db.prepare('SELECT text FROM totals WHERE key = ?');
    const write = db.prepare('INSERT INTO totals VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET text = excluded.text');
    let open = 0;
    const add = ({ key, value }: Input): Total => {
      if (open === 0) db.exec('BEGIN');
      const total = totalIn(read.get(key)?.text ?? '') + value;
      write.run(key, textOf(total));
      if (++open === TRANSACTION) {
        db.exec('COMMIT');
        open = 0;
      }
      return { key, total };
    };
    return timed(records, ms, (source) => source.pipe(map(project), filter(accept), map(add)));
  } finally {
    db.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

/** The same over classic-level, which writes in batches only: what is not written yet is looked up in the batch. */
export async function rxjsLevel(records: readonly Input[], cacheBytes: number, ms: number): Promise<Rate> {
  const dir = mkdtempSync(join(tmpdir(), 'weir-bench-'));
  const { ClassicLevel } = loadCompared('classic-level') as {
    ClassicLevel: new (path: string, options: object) => Level;
  };
  const db = new ClassicLevel(dir, { cacheSize: cacheBytes });
  await db.open();
  try {
    const mask = records.length - 1;
    let position = 0;
    const batch = async (): Promise<void> => {
      const totals = new Map<string, number>();
      for (let i = 0; i < TRANSACTION; i++) {
        const record = project(records[position++ & mask] as Input);
        if (!accept(record)) continue;
        const key = String(record.key);
        totals.set(key, (totals.get(key) ?? totalIn(db.getSync(key) ?? '')) + record.value);
      }
      await db.batch(
        Array.from(totals, ([key, total]) => ({ type: 'put', key, value: textOf(total) })),
        { sync: false },
      );
    };
    while (position < records.length) await batch();
    const stopwatch = new Stopwatch();
    const start = performance.now();
    const from = position;
    while (performance.now() - start < ms) await batch();
    return stopwatch.rate(position - from);
  } finally {
    await db.close();
    rmSync(dir, { recursive: true, force: true });
  }
}
