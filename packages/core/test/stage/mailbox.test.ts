import { describe, expect, test } from 'vitest';
import { Completions } from '../../src/stage/completions.js';
import { Mailbox } from '../../src/stage/mailbox.js';
import { deferred } from '../support/deferred.js';

describe('a mailbox', () => {
  test('runs what was posted when it is read, in order, and what is posted meanwhile too', () => {
    const log: string[] = [];
    const mailbox = new Mailbox(() => log.push('mail'));
    mailbox.post(() => {
      log.push('a');
      mailbox.post(() => log.push('c'));
    });
    mailbox.post(() => log.push('b'));
    expect(log).toEqual(['mail', 'mail']);
    mailbox.read();
    expect(log.slice(2)).toEqual(['a', 'mail', 'b', 'c']);
    mailbox.read();
    expect(log).toHaveLength(6);
  });

  test('runs nothing and takes nothing once it is closed', () => {
    const log: string[] = [];
    const mailbox = new Mailbox(() => log.push('mail'));
    mailbox.post(() => log.push('a'));
    mailbox.close();
    mailbox.post(() => log.push('b'));
    mailbox.read();
    expect(log).toEqual(['mail']);
  });
});

describe('completions', () => {
  test('are told of once each, the newest only, and settle when everything before is committed too', async () => {
    const told: number[] = [];
    const first = deferred();
    const completions = new Completions(
      (id) => (told.push(id), id === 2 ? first.promise : Promise.resolve()),
      () => undefined,
    );
    const settled: number[] = [];
    for (const id of [2, 1, 2, 3]) void completions.reached(id).then(() => settled.push(id));
    await new Promise((resolve) => setImmediate(resolve));
    expect([told, settled]).toEqual([[2, 3], []]);
    first.resolve();
    await completions.idle();
    await new Promise((resolve) => setImmediate(resolve));
    expect(settled.toSorted()).toEqual([1, 2, 2, 3]);
  });

  test('that fail say so to whoever waits, and once to the subtask', async () => {
    const failures: unknown[] = [];
    const completions = new Completions(
      () => Promise.reject(new Error('no')),
      (error) => failures.push(error),
    );
    await expect(completions.reached(1)).rejects.toThrow('no');
    await expect(completions.reached(1)).rejects.toThrow('no');
    await completions.idle();
    expect(failures).toHaveLength(1);
  });

  test('are not idle while any of them is under way, although another has failed', async () => {
    const second = deferred();
    const completions = new Completions(
      (id) => (id === 1 ? Promise.reject(new Error('no')) : second.promise),
      () => undefined,
    );
    completions.reached(1).catch(() => undefined);
    completions.reached(2).catch(() => undefined);
    let isIdle = false;
    const idle = completions.idle().then(() => {
      isIdle = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(isIdle).toBe(false);
    second.resolve();
    await idle;
  });
});
