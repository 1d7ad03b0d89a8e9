import { Writable } from 'node:stream';
import { sinkContext, sinkSuite } from '@weir/testkit';
import { describe, expect, test } from 'vitest';
import { print } from '../../src/print/index.js';

/** A stream that keeps what it is given, and takes more only when `let` is called, if it is asked to be slow. */
function output({ slow = false, highWaterMark = 100 } = {}) {
  const chunks: string[] = [];
  const waiting: (() => void)[] = [];
  const stream = new Writable({
    highWaterMark,
    decodeStrings: false,
    write(chunk: string, _encoding, done) {
      chunks.push(chunk);
      if (slow) waiting.push(done);
      else done();
    },
  });
  return { stream, text: () => chunks.join(''), release: () => waiting.shift()?.() };
}

test('as many printing sinks as there are subtasks warn of no leak, and leave the limit of their stream as it was', async () => {
  const warnings: Error[] = [];
  const warned = (warning: Error): void => {
    warnings.push(warning);
  };
  process.on('warning', warned);
  const { stream } = output();
  const limit = stream.getMaxListeners();
  const writers = await Promise.all(
    Array.from({ length: 25 }, async (_, subtask) => print({ stream }).open(sinkContext({ subtask, parallelism: 25 }))),
  );
  await new Promise(setImmediate);
  for (const writer of writers) await writer.close();
  process.off('warning', warned);
  expect(warnings).toEqual([]);
  expect(stream.listenerCount('error')).toBe(0);
  expect(stream.getMaxListeners()).toBe(limit);
});

describe('a printing sink', () => {
  sinkSuite(test, {
    capabilities: { grade: 'at-least-once' },
    create() {
      const { stream, text } = output();
      return {
        sink: () => print({ stream }),
        record: (n) => ({ n, text: 'a\nb' }),
        visible: () =>
          text()
            .split('\n')
            .slice(0, -1)
            .map((line) => {
              const [, n, shown] = /^\{ n: (\d+), text: '(.*)' \}$/.exec(line) ?? [];
              return { n: Number(n), text: shown?.replace('\\n', '\n') };
            }),
      };
    },
  });
});

describe('a line', () => {
  const printed = async (
    options: { prefix?: string },
    changes: { subtask?: number; parallelism?: number },
    records: unknown[],
  ) => {
    const { stream, text } = output();
    const writer = await print({ ...options, stream }).open(sinkContext(changes));
    await writer.write(records);
    await writer.close();
    return text();
  };
  test('is the text itself, or the value on one line', async () => {
    const long = { a: Array.from({ length: 30 }, (_, i) => i), b: new Map([['x', { y: 1n }]]) };
    expect(await printed({}, {}, ['x', 1, null, { a: 1 }])).toBe('x\n1\nnull\n{ a: 1 }\n');
    expect((await printed({}, {}, [long])).split('\n')).toHaveLength(2);
  });
  test('begins with the prefix, and with the number of the subtask if there are several', async () => {
    expect(await printed({ prefix: 'out' }, {}, ['x'])).toBe('out> x\n');
    expect(await printed({}, { subtask: 1, parallelism: 3 }, ['x'])).toBe('2> x\n');
    expect(await printed({ prefix: 'out' }, { subtask: 0, parallelism: 3 }, ['x', 'y'])).toBe('out:1> x\nout:1> y\n');
  });
});

describe('a full stream', () => {
  test('makes the writer wait, and a flush waits for all', async () => {
    const { stream, text, release } = output({ slow: true, highWaterMark: 5 });
    const writer = await print({ stream }).open(sinkContext());
    expect(writer.write(['a'])).toBeUndefined();
    const waiting = writer.write(['bcdef']);
    expect(waiting).toBeInstanceOf(Promise);
    release();
    release();
    await waiting;
    expect(text()).toBe('a\nbcdef\n');
    expect(writer.write(['g'])).toBeUndefined();
    const flushed = writer.flush?.();
    release();
    await flushed;
    await writer.close();
  });
});

describe('a broken stream', () => {
  test('fails the next call, and nobody else', async () => {
    const stream = new Writable({
      write(_chunk, _encoding, done) {
        done(new Error('EPIPE'));
      },
    });
    const writer = await print({ stream }).open(sinkContext());
    await expect(async () => {
      await writer.write(['x']);
      await writer.flush?.();
    }).rejects.toThrow('EPIPE');
    expect(() => writer.write(['y'])).toThrow('EPIPE');
    await writer.close();
    await writer.close();
  });
  test('is let go of when the writer is closed', async () => {
    const { stream } = output();
    const before = stream.listenerCount('error');
    const writer = await print({ stream }).open(sinkContext());
    await writer.close();
    expect(stream.listenerCount('error')).toBe(before);
  });
});
