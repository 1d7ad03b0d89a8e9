import { describe, expect, test } from 'vitest';
import { SILENT } from '../../src/contracts/logger.js';
import type { JobEnding } from '../../src/contracts.js';
import { createEnvironment, noRestart } from '../../src/index.js';
import { map } from '../../src/operators.js';
import { collecting, numbers } from './support.js';

/** A job over `project` whose source and sink note what they are told. */
function toldJob(project: (n: number) => number, open?: () => never): { told: unknown[]; run: () => Promise<unknown> } {
  const told: unknown[] = [];
  const env = createEnvironment({ plugins: [noRestart()], logger: SILENT });
  const source = { ...numbers(3), jobEnded: (job: string, ending: JobEnding) => told.push(['source', job, ending]) };
  const sink = {
    ...collecting<number>([]),
    ...(open === undefined ? {} : { prepare: open }),
    jobEnded: (job: string, ending: JobEnding) => void told.push(['sink', job, ending]),
  };
  env.from(source).pipe(map(project)).to(sink);
  return { told, run: () => env.execute('job').catch((error: unknown) => error) };
}

describe('the end of a job', () => {
  test('is told to every source and sink, once', async () => {
    const { told, run } = toldJob((n) => n);
    await run();
    expect(told).toEqual([
      ['source', 'job', { kind: 'finished' }],
      ['sink', 'job', { kind: 'finished' }],
    ]);
  });

  test('is told with its error, before the handle says it', async () => {
    const { told, run } = toldJob(() => {
      throw new Error('boom');
    });
    const error = await run();
    expect(told).toEqual([
      ['source', 'job', { kind: 'failed', error }],
      ['sink', 'job', { kind: 'failed', error }],
    ]);
  });

  test('is also told where no attempt could be opened', async () => {
    const { told, run } = toldJob(
      (n) => n,
      () => {
        throw new Error('cannot open');
      },
    );
    await run();
    expect(told.map((call) => (call as unknown[])[0])).toEqual(['source', 'sink']);
  });
});
