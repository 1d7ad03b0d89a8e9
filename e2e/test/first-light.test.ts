import { mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFsStorage } from '@weir/backend-fs';
import { createMemoryStateBackend } from '@weir/backend-memory';
import { checkpointCoordinator } from '@weir/coordinator';
import { CheckpointStorageRole, createEnvironment, StateBackendRole, type Plugin } from '@weir/core';
import { staticSplits, type Committable, type Sink, type Source } from '@weir/core/contracts';
import { keyBy, keyedProcess, map, scan, valueState, type Emit } from '@weir/core/operators';
import { fixedDelayRestart } from '@weir/restart-strategies';
import { expect, test } from 'vitest';

const storage = (dir: string): Plugin => ({
  name: 'fs',
  install(binder) {
    binder.provide(CheckpointStorageRole, 'fs', () => createFsStorage({ checkpointsDir: dir }));
    binder.provide(StateBackendRole, 'memory', () => createMemoryStateBackend());
  },
});

function numbers(count: number, perPoll = 7): Source<number, 'replayable', { readonly id: string }, number> {
  return {
    grade: 'replayable',
    bounded: true,
    enumerator: () => staticSplits([{ id: 'numbers' }]),
    open: (_split, position = 0) => {
      let next = position;
      return Promise.resolve({
        async poll(max: number) {
          await new Promise((resolve) => setImmediate(resolve));
          if (next >= count) return 'end' as const;
          const records = Array.from({ length: Math.min(max, perPoll, count - next) }, (_, i) => next + i);
          next += records.length;
          return records;
        },
        position: () => next,
        close: () => Promise.resolve(),
      });
    },
  };
}

function transactional<T>(visible: T[]): Sink<T, 'exactly-once', T[]> {
  const done = new Set<string>();
  return {
    grade: 'exactly-once',
    open: () => {
      let pending: T[] = [];
      return {
        write: (batch) => void pending.push(...batch),
        prepareCommit() {
          const out = pending;
          pending = [];
          return out.length === 0 ? [] : [out];
        },
        close: () => undefined,
      };
    },
    committer: () => ({
      commit: (committables: readonly Committable<T[]>[]) =>
        Promise.resolve(
          committables.map(({ identity, payload }) => {
            const id = JSON.stringify(identity);
            if (done.has(id)) return { kind: 'already-committed' };
            done.add(id);
            visible.push(...payload);
            return { kind: 'committed' };
          }),
        ),
    }),
  };
}

for (const parallelism of [1, 3]) {
  test(`a job that fails twice gives the output of one that never failed, at parallelism ${parallelism}`, async () => {
    const dir = mkdtempSync(join(tmpdir(), 'weir-'));
    const out: [number, number][] = [];
    const env = createEnvironment({
      parallelism,
      plugins: [checkpointCoordinator(), storage(dir), fixedDelayRestart({ attempts: 5, delay: 0 })],
    });
    env.enableCheckpointing('10ms');
    const failures = new Set([3000, 6000]);
    env
      .from(numbers(10000), { uid: 'numbers' })
      .pipe(
        map((n) => {
          if (failures.delete(n)) throw new Error(`poison ${n}`);
          return n;
        }),
        keyBy((n) => n % 17),
        keyedProcess({
          uid: 'count',
          state: { count: valueState({ initial: () => 0 }) },
          onRecord(_n, { key, state }, emit: Emit<[number, number]>) {
            state.count.update(state.count.value() + 1);
            emit([key, state.count.value()]);
          },
        }),
      )
      .to(transactional(out), { uid: 'out', guarantee: 'exactly-once' });
    const job = await env.start('j');
    const kinds: string[] = [];
    job.events$.subscribe((e) => kinds.push(e.kind));
    expect(await job.done).toBe('finished');
    const expected = Array.from({ length: 10000 }, (_, n) => [n % 17, Math.floor(n / 17) + 1]);
    const sort = (a: readonly (readonly number[])[]) => a.map((x) => x.join(':')).sort();
    expect(sort(out)).toEqual(sort(expected));
    expect(kinds.filter((k) => k === 'restart')).toHaveLength(2);
    expect(kinds.filter((k) => k === 'checkpoint-completed').length).toBeGreaterThan(3);
    console.log(readdirSync(join(dir, 'j')), job.checkpointStatistics()?.counts);
  });
}
