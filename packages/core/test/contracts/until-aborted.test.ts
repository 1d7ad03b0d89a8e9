import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { untilAborted } from '../../src/contracts/until-aborted.js';

test('settles like the promise, and leaves no listener on a signal that lives much longer', async () => {
  const { signal } = new AbortController();
  let finish: (value: number) => void = () => undefined;
  const work = new Promise<number>((resolve) => {
    finish = resolve;
  });
  const waiting = untilAborted(work, signal);
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
  finish(7);
  expect(await waiting).toBe(7);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
  await expect(untilAborted(Promise.reject(new Error('broken')), signal)).rejects.toThrow('broken');
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('rejects as soon as the signal aborts, however long the promise takes', async () => {
  const abort = new AbortController();
  const waiting = expect(untilAborted(new Promise(() => undefined), abort.signal)).rejects.toThrow('over');
  abort.abort(new Error('over'));
  await waiting;
});

test('rejects if the signal had aborted before', async () => {
  await expect(untilAborted(new Promise(() => undefined), AbortSignal.abort(new Error('over')))).rejects.toThrow(
    'over',
  );
});
