import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { describeRocks, useDirectory } from '../support/driver.js';
import { program, runProcess } from '../support/programs.js';

// These programs have the addon to themselves, because what they look at is the whole process: its threads, memory, files and end.
const TIMEOUT = 60_000;

describeRocks('the addon', () => {
  const at = useDirectory();
  const path = (name: string): string => JSON.stringify(at(name));

  test(
    'works in four threads at once, each with databases of its own',
    async () => {
      const body = `
      const { workerData, parentPort } = require('node:worker_threads');
      for (let round = 0; round < 3; round++) {
        const db = open(workerData + round);
        for (let n = 0; n < 1000; n++) put(db, 'key' + n, workerData + n);
        await native.checkpoint(db, workerData + round + '-chk');
        const copy = open(workerData + round + '-chk', 1);
        for (let n = 0; n < 1000; n++) if (get(copy, 'key' + n) !== workerData + n) throw new Error('wrong value');
        native.close(copy);
        native.close(db);
      }
      parentPort.postMessage('done');
    `;
      at('');
      const workers = [0, 1, 2, 3].map(
        (n) => new Worker(program(body), { eval: true, workerData: at(`db${String(n)}-`) }),
      );
      const ends = workers.map((worker) => Promise.all([once(worker, 'message'), once(worker, 'exit')]));
      expect(await Promise.all(ends)).toEqual(workers.map(() => [['done'], [0]]));
    },
    TIMEOUT,
  );

  test(
    'closes what a thread leaves open when that is ended, also in the middle of a checkpoint',
    async () => {
      const body = `
      const { workerData, parentPort } = require('node:worker_threads');
      const db = open(workerData);
      for (let n = 0; n < 10000; n++) put(db, 'key' + n, 'x'.repeat(100));
      globalThis.held = [db, native.iterate(db, 0, undefined, undefined, undefined), native.takeSnapshot(db)];
      const flushed = native.checkpoint(db, workerData + '-chk').catch(() => {});
      parentPort.postMessage('open');
      await flushed;
      setInterval(() => {}, 1000);
    `;
      for (let round = 0; round < 5; round++) {
        const directory = at(`db${String(round)}`);
        const worker = new Worker(program(body), { eval: true, workerData: directory });
        await once(worker, 'message');
        await worker.terminate();
        // The lock of the directory is free again.
        expect(await runProcess(`native.close(open(${JSON.stringify(directory)}, 1)); console.log('free')`)).toBe(
          'free',
        );
      }
    },
    TIMEOUT,
  );

  test(
    'lets flushes of several families meet: those that are asked for, those of a checkpoint, and those of full buffers',
    async () => {
      const printed = await runProcess(`
      const db = native.open(${path('db')}, 0, ['default', 'b', 'c'], [], 1 << 20, 1 << 16, 'none', 10, false);
      for (let round = 0; round < 30; round++) {
        const tasks = [native.flush(db), native.checkpoint(db, ${path('chk')} + round), native.flush(db)];
        for (let n = 0; n < 2000; n++) native.put(db, n % 3, bytes('key' + n), 4, bytes('x'.repeat(100)), 100);
        await Promise.all(tasks);
      }
      native.close(db);
      console.log('done');
    `);
      expect(printed).toBe('done');
    },
    TIMEOUT,
  );

  test(
    'lets a process end with everything still open',
    async () => {
      const open = (name: string): string => `
      const db = open(${path(name)});
      put(db, 'a', '1');
      const iterator = native.iterate(db, 0, undefined, undefined, undefined);
      const snapshot = native.takeSnapshot(db);
    `;
      expect(await runProcess(`${open('a')} console.log('end')`)).toBe('end');
      expect(await runProcess(`${open('b')} console.log('exit'); process.exit(0)`)).toBe('exit');
      expect(await runProcess(`${open('c')} native.flush(db); console.log('busy'); process.exit(0)`)).toBe('busy');
      await expect(runProcess(`${open('d')} throw new Error('thrown')`)).rejects.toMatchObject({ code: 1 });
    },
    TIMEOUT,
  );

  test(
    'gives back what the garbage collector finds, in any order',
    async () => {
      const printed = await runProcess(`
      const collect = async () => { for (let i = 0; i < 10; i++) { gc(); await new Promise(setImmediate); } };
      (() => {
        const db = open(${path('db')});
        put(db, 'a', '1');
        for (let i = 0; i < 100; i++) {
          native.iterate(db, 0, undefined, undefined, undefined);
          native.takeSnapshot(db);
        }
        globalThis.iterator = native.iterate(db, 0, undefined, undefined, undefined);
      })();
      await collect();
      console.log(native.next(iterator, Buffer.alloc(100)));
      delete globalThis.iterator;
      await collect();
      native.close(open(${path('db')}, 1));
      console.log('free');
    `);
      expect(printed.split('\n')).toEqual(['10', 'free']);
    },
    TIMEOUT,
  );

  test(
    'takes no other object for one of its own',
    async () => {
      const printed = await runProcess(`
      const db = open(${path('db')});
      const iterator = native.iterate(db, 0, undefined, undefined, undefined);
      const snapshot = native.takeSnapshot(db);
      const out = Buffer.alloc(8);
      const stranger = require('node:vm').runInNewContext('({})');
      let refused = 0;
      for (const wrong of [undefined, null, 1, 'x', {}, [], () => {}, Symbol(), 1n, stranger, iterator, snapshot]) {
        for (const name of Object.keys(native).filter((name) => typeof native[name] === 'function')) {
          if (['open', 'next', 'closeIterator', 'releaseSnapshot'].includes(name)) continue;
          try { native[name](wrong, 0, out, 0, out, 0); } catch (error) { if (error.code === 'ARGUMENT') refused++; else throw error; }
        }
      }
      for (const [name, right] of [['next', iterator], ['closeIterator', iterator], ['releaseSnapshot', snapshot]]) {
        for (const wrong of [undefined, 1, {}, db, right === iterator ? snapshot : iterator]) {
          try { native[name](wrong, out); } catch (error) { if (error.code === 'ARGUMENT') refused++; else throw error; }
        }
      }
      for (const name of Object.keys(native)) {
        if (typeof native[name] !== 'function') continue;
        try { native[name](); } catch (error) { if (error.code === 'ARGUMENT') refused++; else throw error; }
      }
      console.log(refused);
    `);
      // 12 strangers for 17 methods of a database, 5 for 3 others, and every one of the 21 without arguments.
      expect(printed).toBe(String(12 * 17 + 5 * 3 + 21));
    },
    TIMEOUT,
  );

  test(
    'keeps memory and open files flat when databases come and go',
    async () => {
      const printed = await runProcess(`
      const { mkdirSync } = require('node:fs');
      const files = () => readdirSync('/proc/self/fd').length;
      const round = async (n) => {
        const directory = path.join(${path('db')}, String(n));
        const db = open(directory, 0, ['default', 'b', 'c']);
        for (let i = 0; i < 200; i++) put(db, 'key' + i, 'x'.repeat(1000));
        const snapshot = native.takeSnapshot(db);
        const iterator = native.iterate(db, 0, bytes('a'), bytes('z'), snapshot);
        native.next(iterator, Buffer.alloc(10000));
        get(db, 'key1');
        await native.checkpoint(db, directory + '-chk');
        if (n % 2 === 0) { native.closeIterator(iterator); native.releaseSnapshot(snapshot); }
        native.close(db);
        try { native.put(db); } catch {}
        rmSync(directory, { recursive: true });
        rmSync(directory + '-chk', { recursive: true });
      };
      mkdirSync(${path('db')}, { recursive: true });
      const measure = async () => {
        for (let i = 0; i < 5; i++) { gc(); await new Promise(setImmediate); }
        return [process.memoryUsage().rss / 1e6, files()];
      };
      for (let n = 0; n < 50; n++) await round(n);
      const before = await measure();
      for (let n = 0; n < 200; n++) await round(n);
      const after = await measure();
      console.log(JSON.stringify({ megabytes: after[0] - before[0], files: after[1] - before[1] }));
    `);
      const { megabytes, files } = JSON.parse(printed) as { megabytes: number; files: number };
      expect(files).toBe(0);
      // Each database has 200 kB of rows, and a cache of its own.
      expect(megabytes).toBeLessThan(20);
    },
    TIMEOUT,
  );
});
