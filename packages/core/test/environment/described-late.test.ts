import { expect, test } from 'vitest';
import { createEnvironment } from '../../src/index.js';
import { map } from '../../src/operators.js';
import { collecting, numbers } from './support.js';

const late = (what: string): unknown =>
  expect.objectContaining({ code: 'GRAPH_STARTED', recoverable: false, message: expect.stringContaining(what) });

test('a source, an operator and a sink that are described after the start are refused by name, while the job runs and later', async () => {
  const env = createEnvironment();
  const out: number[] = [];
  const stream = env.from(numbers(3), { uid: 'in' });
  stream.to(collecting(out), { uid: 'out' });
  const started = env.start('job');
  const describeMore = (): void => {
    expect(() => env.from(numbers(3), { uid: 'more' })).toThrow(late('source "more"'));
    expect(() => stream.pipe(map((n) => n))).toThrow(late('map'));
    expect(() => stream.to(collecting(out), { uid: 'second' })).toThrow(late('sink "second"'));
  };
  describeMore();
  const job = await started;
  describeMore();
  expect(await job.done).toBe('finished');
  describeMore();
  expect(out).toEqual([0, 1, 2]);
});

test('what a refused start has found missing can be added, and the job started then', async () => {
  const env = createEnvironment();
  const out: number[] = [];
  const stream = env.from(numbers(3));
  await expect(env.start('job')).rejects.toMatchObject({ code: 'GRAPH_NO_SINK' });
  stream.to(collecting(out));
  expect(await env.execute('job')).toBe('finished');
  expect(out).toEqual([0, 1, 2]);
});

test('the same job can be started again, and a start that is refused does not open it while another runs', async () => {
  const env = createEnvironment();
  const out: number[] = [];
  env.from(numbers(3)).to(collecting(out));
  const job = await env.start('job');
  await expect(env.start('other', { restoreFrom: 1 as never })).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  expect(() => env.from(numbers(3))).toThrow(late('source'));
  await job.done;
  await env.execute('job');
  expect(out).toEqual([0, 1, 2, 0, 1, 2]);
});
