import { describe, expect, test } from 'vitest';
import type { Source, SourceReader, SourceSplit, SplitEnumerator } from '../../src/contracts/source.js';
import { SILENT } from '../../src/contracts/logger.js';
import { createEnvironment } from '../../src/environment/environment.js';
import { staticSplits } from '../../src/operator/static-splits.js';

type Reader = SourceReader<number, number>;
type Broken = Source<number, 'replayable', SourceSplit, number>;

const reader: Reader = { poll: () => 'end', position: () => 0, close: async () => undefined };
const source = (how: { readonly reader?: unknown; readonly enumerator?: unknown }): Broken => ({
  grade: 'replayable',
  bounded: true,
  // Whatever a plugin without types may answer.
  enumerator: () => ('enumerator' in how ? how.enumerator : staticSplits([{ id: 'a' }])) as SplitEnumerator,
  open: async () => ('reader' in how ? how.reader : reader) as Reader,
});
const without = (method: keyof SplitEnumerator): unknown => ({ ...staticSplits([]), [method]: undefined });

describe('a job whose source', () => {
  test.each<[string, Broken, string]>([
    ['has no enumerator', source({ enumerator: undefined }), 'enumerator() returned undefined'],
    ['has an enumerator that cannot be started', source({ enumerator: without('start') }), 'has no start()'],
    ['has an enumerator that cannot be closed', source({ enumerator: without('close') }), 'has no close()'],
    ['opens nothing', source({ reader: undefined }), 'split a: open() gave undefined'],
    ['opens what cannot be closed', source({ reader: { ...reader, close: undefined } }), 'which has no close()'],
    ['opens what has no position', source({ reader: { ...reader, position: undefined } }), 'which has no position()'],
    ['polls nothing', source({ reader: { ...reader, poll: () => undefined } }), 'poll() gave undefined'],
    ['polls null', source({ reader: { ...reader, poll: () => null } }), 'poll() gave null'],
    ['polls an object', source({ reader: { ...reader, poll: () => ({ records: [] }) } }), 'poll() gave an object'],
    ['polls another word', source({ reader: { ...reader, poll: () => 'done' } }), 'poll() gave "done"'],
    ['promises another word', source({ reader: { ...reader, poll: async () => 'done' } }), 'poll() gave "done"'],
    [
      'promises its position',
      source({ reader: { ...reader, position: async () => 0 } }),
      'position() returned a promise',
    ],
    [
      'deals out a promise',
      source({ enumerator: { ...staticSplits([]), assign: async () => 'end' } }),
      'assign() of its enumerator returned a promise',
    ],
  ])('%s fails once, and says what was answered', async (_what, broken, text) => {
    const env = createEnvironment({ logger: SILENT });
    env.from(broken, { uid: 'in' }).to({
      grade: 'at-least-once',
      open: () => ({ write: () => undefined, close: () => undefined }),
    });
    const job = await env.start('sums');
    const failed = await job.done.catch((error: unknown) => error);
    expect(failed).toMatchObject({ code: 'PROTOCOL_VIOLATION', recoverable: false });
    expect((failed as Error).message).toContain('Source in of job sums');
    expect((failed as Error).message).toContain(text);
  });
});
