import { describe, expect, test } from 'vitest';
import { checkedCommitter, checkedList, checkedOutcomes, checkedWriter } from '../../src/bounds/sink-answers.js';

const sink = { uid: 'out', job: 'orders' };
const violation = (message: string) => ({
  code: 'PROTOCOL_VIOLATION',
  recoverable: false,
  message: expect.stringMatching(`Sink out of job orders .*${message}`),
});
const thrown = (call: () => unknown): unknown => {
  try {
    return call();
  } catch (error) {
    return error;
  }
};

describe('outcomes of a commit', () => {
  test('are taken as they are if there is one that the contract names for each committable', () => {
    const outcomes = [
      { kind: 'committed' },
      { kind: 'already-committed' },
      { kind: 'retry', error: 1 },
      { kind: 'failed', error: 1 },
    ];
    expect(checkedOutcomes(outcomes, 4, sink)).toBe(outcomes);
  });
  const sparse: unknown[] = [];
  sparse.length = 1;
  test.each([
    ['nothing at all', undefined, 'undefined from commit'],
    ['no list', { kind: 'committed' }, 'not a list'],
    ['too few', [], '0 outcomes for 1'],
    ['too many', [{ kind: 'committed' }, { kind: 'committed' }], '2 outcomes for 1'],
    ['one of an unknown kind', [{ kind: 'done' }], 'is no outcome'],
    ['one without a kind', [{}], 'is no outcome'],
    ['a word', ['committed'], 'is no outcome'],
    ['undefined', [undefined], 'is no outcome'],
    ['null', [null], 'is no outcome'],
    ['a hole', sparse, 'is no outcome'],
    ['a kind of every object', [{ kind: 'toString' }], 'is no outcome'],
  ])('are no success if they are %s', (_what, outcomes, message) => {
    expect(thrown(() => checkedOutcomes(outcomes, 1, sink))).toMatchObject(violation(message));
  });
});

describe('other answers', () => {
  test.each([
    ['payloads', () => checkedList('abc', 'prepareCommit', sink), 'prepareCommit'],
    ['state', () => checkedList({ 0: 1 }, 'state', sink), 'state'],
    ['a writer', () => checkedWriter({ close: () => undefined } as never, sink), 'no write'],
    ['no writer', () => checkedWriter(undefined as never, sink), 'no write'],
    ['a committer', () => checkedCommitter({ close: () => undefined } as never, sink), 'no commit'],
    ['no committer', () => checkedCommitter(null as never, sink), 'no commit'],
  ])('are refused by name: %s', (_what, call, message) => {
    expect(thrown(call)).toMatchObject(violation(message));
  });
  test('may be left out where the contract lets them', () => {
    expect(checkedList(undefined, 'state', sink)).toEqual([]);
  });
});
