import { setTimeout as sleep } from 'node:timers/promises';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fsBackend } from '@weir/backend-fs';
import { checkpointCoordinator } from '@weir/coordinator';
import { createEnvironment } from '@weir/core';
import { SILENT, staticSplits, type Sink, type Source } from '@weir/core/contracts';
import { filter, iterate, map } from '@weir/core/operators';
import { EMPTY, expand, filter as rxFilter, Observable, of } from 'rxjs';
import { Stopwatch, type Rate } from './rate.js';
import type { WindowResult } from './window.js';

// Newton's method for square roots: each number goes round until its root does not change any more, about 10 times.

export interface Root {
  readonly of: number;
  readonly root: number;
  readonly error: number;
}
const INPUT = 1 << 16;
const CHECKPOINT_EVERY_MS = 1000;

const started = (i: number): Root => ({ of: (i % INPUT) + 2, root: (i % INPUT) + 2, error: Number.POSITIVE_INFINITY });
const improved = ({ of: square, root }: Root): Root => {
  const next = (root + square / root) / 2;
  return { of: square, root: next, error: Math.abs(next - root) };
};
const isFound = ({ error }: Root): boolean => error < 1e-9;

/** How many roots RxJS finds within `ms`. */
export function rxjsExpand(ms: number): Rate {
  let rate: Rate | undefined;
  let found = 0;
  new Observable<Root>((subscriber) => {
    let i = 0;
    // A first pass warms up.
    while (i < INPUT) subscriber.next(started(i++));
    const stopwatch = new Stopwatch();
    const start = performance.now();
    const before = found;
    for (let now = start; now - start < ms; now = performance.now())
      for (let batch = 0; batch < 1024; batch++) subscriber.next(started(i++));
    rate = stopwatch.rate(found - before);
    subscriber.complete();
  })
    .pipe(
      expand((root) => (isFound(root) ? EMPTY : of(improved(root)))),
      rxFilter(isFound),
    )
    .subscribe(() => {
      found++;
    });
  if (rate === undefined) throw new Error('the program found nothing');
  return rate;
}

/** The same loop with exactly-once checkpoints to the file system every second. */
export async function weirIterate(ms: number): Promise<WindowResult> {
  const dir = mkdtempSync(join(tmpdir(), 'weir-bench-'));
  let found = 0;
  const completed: number[] = [];
  const env = createEnvironment({
    logger: SILENT,
    plugins: [checkpointCoordinator(), fsBackend({ checkpointsDir: dir })],
  });
  env.enableCheckpointing(CHECKPOINT_EVERY_MS);
  const sink: Sink<Root, 'idempotent'> = {
    grade: 'idempotent',
    open: () => ({
      write(batch) {
        found += batch.length;
      },
      close: () => undefined,
    }),
  };
  env
    .from(endless(), { uid: 'numbers' })
    .pipe(
      iterate<Root, Root>(
        (input) => {
          const next = input.pipe(map(improved));
          return { feedback: next.pipe(filter((root) => !isFound(root))), output: next.pipe(filter(isFound)) };
        },
        { uid: 'newton' },
      ),
    )
    .to(sink, { uid: 'roots' });
  const handle = await env.start('newton');
  handle.events$.subscribe((event) => {
    if (event.kind === 'checkpoint-completed') completed.push(event.stateBytes);
  });
  try {
    while (found < INPUT) await sleep(20);
    const stopwatch = new Stopwatch();
    const before = found;
    const checkpointsBefore = completed.length;
    await sleep(ms);
    const rate = stopwatch.rate(found - before);
    const inWindow = completed.slice(checkpointsBefore);
    return {
      ...rate,
      checkpointsCompleted: inWindow.length,
      bytesWritten: inWindow.reduce((sum, bytes) => sum + bytes, 0),
    };
  } finally {
    await handle.cancel();
    rmSync(dir, { recursive: true, force: true });
  }
}

function endless(): Source<Root, 'replayable', { readonly id: string }, number> {
  return {
    grade: 'replayable',
    bounded: false,
    enumerator: () => staticSplits([{ id: 'numbers' }]),
    open: (_split, start = 0) => {
      let next = start;
      return Promise.resolve({
        poll: (max: number) => Array.from({ length: max }, () => started(next++)),
        position: () => next,
        close: () => Promise.resolve(),
      });
    },
  };
}
