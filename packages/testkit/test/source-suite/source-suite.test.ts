import { describe, expect, test } from 'vitest';
import { runSuite, sourceSuite } from '../../src/index.js';
import { ARRAYS, arrayFixture, logFixture, queueFixture } from './fixtures.js';

describe('a source that keeps the contract', () => {
  sourceSuite(test, { capabilities: ARRAYS, create: () => arrayFixture() });
});
describe('a source that follows a log from its end, and keeps the contract', () => {
  sourceSuite(test, { capabilities: { grade: 'replayable', bounded: false }, create: () => logFixture(0) });
});
describe('a source that follows a log that has records already, and keeps the contract', () => {
  sourceSuite(test, { capabilities: { grade: 'replayable', bounded: false }, create: () => logFixture(5) });
});
describe('a source that acknowledges, and keeps the contract', () => {
  sourceSuite(test, { capabilities: { grade: 'acknowledging', bounded: false }, create: () => queueFixture() });
});

test('the suite finds a source that is not the one it claims to be', async () => {
  const { failed } = await runSuite((register) => {
    sourceSuite(register, { capabilities: { grade: 'at-most-once', bounded: false }, create: () => arrayFixture() });
  });
  expect(failed.map((f) => f.title)).toContain('declares the grade and the end that it is said to have');
});
