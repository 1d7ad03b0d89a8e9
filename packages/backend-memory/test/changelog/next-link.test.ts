import type { SectionsHandle } from '@weir/core/contracts';
import { describe, expect, test } from 'vitest';
import { SEALED, type Link } from '../../src/changelog/link.js';
import { nextLink } from '../../src/changelog/next-link.js';

function link(level: number, bytes: number): Link {
  const blob = { kind: 'shared', key: 'k', path: 'p', length: bytes, algorithm: 'crc32', checksum: 0 } as const;
  const handle: SectionsHandle = {
    range: { first: 0, last: 127 },
    format: level === SEALED ? 'canonical' : 'changes',
    states: [],
    groups: [],
    blob,
  };
  return { handle, version: 1, level };
}
const base = (bytes: number): Link => link(SEALED, bytes);
const links = (count: number, level = 0, bytes = 1): Link[] => Array.from({ length: count }, () => link(level, bytes));
const quiet = { rows: 1000, changedRows: 1 };

describe('a checkpoint stores everything anew', () => {
  test('where nothing can be gone on from', () => {
    expect(nextLink({ links: [], ...quiet })).toEqual({ kind: 'base' });
  });
  test('once changes take as many bytes as the base', () => {
    expect(nextLink({ links: [base(100), ...links(2, 0, 49)], ...quiet }).kind).toBe('changes');
    expect(nextLink({ links: [base(100), ...links(2, 0, 50)], ...quiet }).kind).toBe('base');
  });
  test('where more than half of the rows have changed', () => {
    expect(nextLink({ links: [base(100)], rows: 100, changedRows: 50 }).kind).toBe('changes');
    expect(nextLink({ links: [base(100)], rows: 100, changedRows: 51 }).kind).toBe('base');
    expect(nextLink({ links: [base(100)], rows: 0, changedRows: 1 }).kind).toBe('base');
  });
  test('where restored links have piled up', () => {
    expect(nextLink({ links: [base(1000), ...links(63, SEALED)], ...quiet }).kind).toBe('changes');
    expect(nextLink({ links: [base(1000), ...links(64, SEALED)], ...quiet }).kind).toBe('base');
  });
});

describe('links of one level become one of the next', () => {
  test('with the sixteenth', () => {
    expect(nextLink({ links: [base(1000), ...links(14)], ...quiet })).toEqual({ kind: 'changes', kept: 15, level: 0 });
    expect(nextLink({ links: [base(1000), ...links(15)], ...quiet })).toEqual({ kind: 'changes', kept: 1, level: 1 });
  });
  test('behind what was restored, which stays as it is', () => {
    const restored = [base(1000), ...links(20, SEALED)];
    expect(nextLink({ links: restored, ...quiet })).toEqual({ kind: 'changes', kept: 21, level: 0 });
    expect(nextLink({ links: [...restored, ...links(15)], ...quiet })).toEqual({ kind: 'changes', kept: 21, level: 1 });
  });
  test('of several levels at once', () => {
    const full = [base(1000), ...links(15, 1), ...links(15, 0)];
    expect(nextLink({ links: full, ...quiet })).toEqual({ kind: 'changes', kept: 1, level: 2 });
    expect(nextLink({ links: full.slice(0, -1), ...quiet })).toEqual({ kind: 'changes', kept: 30, level: 0 });
  });
  test('so that there are never many', () => {
    let chain: Link[] = [base(1e9)];
    let most = 0;
    for (let i = 0; i < 5000; i++) {
      const next = nextLink({ links: chain, ...quiet });
      if (next.kind === 'base') throw new Error('there is no reason for a base');
      chain = [...chain.slice(0, next.kept), link(next.level, 1)];
      most = Math.max(most, chain.length);
    }
    expect(most).toBeLessThan(64);
  });
});
