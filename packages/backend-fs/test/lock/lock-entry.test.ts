import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatEntry, parseEntry, type LockEntry } from '../../src/lock/lock-entry.js';

const word = fc.stringMatching(/^[\w-]*$/);
const entries: fc.Arbitrary<LockEntry> = fc.record({
  attempt: fc.nat(),
  owner: fc.option(
    fc.record({
      process: fc.record({
        pid: fc.nat(),
        startedAt: fc.nat().map(String),
        bootId: word,
        pidNamespace: fc.nat().map(String),
        host: word,
      }),
      since: fc.maxSafeNat(),
      token: fc.stringMatching(/^[\w-]+$/),
    }),
    { nil: undefined },
  ),
});

test('the name of a lock entry gives the entry back', () => {
  fc.assert(
    fc.property(entries, (entry) => {
      expect(parseEntry(formatEntry(entry))).toEqual(entry);
    }),
  );
});

test('the name of a lock entry is one that people can read and that fits into a folder', () => {
  const owner = {
    process: {
      pid: 4_194_304,
      startedAt: '18446744073709551615',
      bootId: '26115818-8de0-49cf-8992-243db80552c2',
      pidNamespace: '4294967295',
      host: 'h'.repeat(40),
    },
    since: 9_007_199_254_740_991,
    token: '26115818-8de0-49cf-8992-243db80552c2',
  };
  const name = formatEntry({ attempt: 9_007_199_254_740_991, owner });
  expect(name).toContain('pid-4194304.');
  expect(name.length).toBeLessThan(255);
  expect(formatEntry({ attempt: 7, owner: undefined })).toBe('attempt-7.free');
});

test('other names are no lock entries', () => {
  for (const name of [
    '',
    '.DS_Store',
    'attempt-',
    'attempt-1',
    'attempt-x.free',
    'attempt-1.free.bak',
    'attempt-1.pid-2',
    'attempt-99999999999999999999999.free',
    'attempt-9007199254740993.free',
    'attempt-007.free',
  ]) {
    expect(parseEntry(name), name).toBeUndefined();
  }
});

test('a lock entry with any bit changed, or cut short, is no entry or a whole one', () => {
  const process = { pid: 17, startedAt: '4711', bootId: 'b-1', pidNamespace: '4026531836', host: 'node-7' };
  const name = Buffer.from(formatEntry({ attempt: 12, owner: { process, since: 1_700_000_000_000, token: 't-1' } }));
  for (let at = 0; at < name.length; at++) {
    const damaged = [name.subarray(0, at)];
    for (let bit = 0; bit < 7; bit++)
      damaged.push(Buffer.from(name.map((byte, i) => (i === at ? byte ^ (1 << bit) : byte))));
    for (const text of damaged.map(String)) {
      const entry = parseEntry(text);
      if (entry !== undefined) expect(formatEntry(entry)).toBe(text);
    }
  }
});
