import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { CALLS } from '../../src/bounds/calls.js';

/** Calls of the engine to itself: what a plugin is given rather than what it gives. */
const OF_THE_ENGINE = ['commitNow', 'nextBarrier', 'next', 'section'];

test.each(['checkpoint-storage', 'source', 'sink', 'state-backend'])(
  'every call of the contract %s that may keep the engine waiting has a bound',
  (file) => {
    const text = readFileSync(new URL(`../../src/contracts/${file}.ts`, import.meta.url), 'utf8');
    const calls = [...text.matchAll(/^ {2}(\w+)\??\([^\n]*(?:Promise|Awaitable)</gm)].map(([, name = '']) => name);
    expect(calls.length).toBeGreaterThan(3);
    const contract = { 'checkpoint-storage': 'storage', 'state-backend': 'state' }[file] ?? file;
    const bounded = Object.keys(CALLS).flatMap((call) =>
      call.startsWith(`${contract}.`) ? [call.split('.')[1]!] : [],
    );
    const missing = calls.filter(
      (name) =>
        !OF_THE_ENGINE.includes(name) &&
        !bounded.some((call) => (name === 'close' ? call.startsWith(name) : call === name)),
    );
    expect(missing).toEqual([]);
  },
);
