import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fsBackend } from '@weir/backend-fs';
import { checkpointCoordinator } from '@weir/coordinator';
import { createEnvironment } from '@weir/core';
import { staticSplits, type Source } from '@weir/core/contracts';
import { filter, keyBy, keyedProcess, map, valueState, type Emit } from '@weir/core/operators';

interface Stamped {
  readonly key: string;
  readonly at: number;
}

/** The benchmark job on records that carry the time at which the source handed them out. */
export async function startLatencyJob(options: {
  readonly ratePerSecond: number;
  readonly checkpointEveryMs: number;
}): Promise<{
  readonly latenciesMs: number[];
  completed(): number;
  stop(): Promise<void>;
}> {
  const dir = mkdtempSync(join(tmpdir(), 'weir-bench-'));
  const latenciesMs: number[] = [];
  const env = createEnvironment({ plugins: [checkpointCoordinator(), fsBackend({ checkpointsDir: dir })] });
  env.enableCheckpointing(options.checkpointEveryMs);
  env
    .from(stamped(options.ratePerSecond), { uid: 'records' })
    .pipe(
      map((record) => record),
      filter(() => true),
      keyBy(({ key }) => key),
      keyedProcess({
        uid: 'count',
        state: { count: valueState({ initial: () => 0 }) },
        onRecord(record, { state: { count } }, emit: Emit<Stamped>) {
          count.update(count.value() + 1);
          emit(record);
        },
      }),
    )
    .to(
      {
        grade: 'idempotent',
        open: () => ({
          write(batch: readonly Stamped[]) {
            const now = performance.now();
            for (const { at } of batch) latenciesMs.push(now - at);
          },
          close: () => undefined,
        }),
      },
      { uid: 'out' },
    );
  const job = await env.start('latency');
  return {
    latenciesMs,
    completed: () => job.checkpointStatistics()?.counts.completed ?? 0,
    async stop() {
      await job.cancel();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

function stamped(ratePerSecond: number): Source<Stamped, 'replayable', { readonly id: string }, number> {
  return {
    grade: 'replayable',
    bounded: false,
    enumerator: () => staticSplits([{ id: 'records' }]),
    open: (_split, start = 0, { clock }) => {
      let position = start;
      const begun = clock.monotonic();
      return Promise.resolve({
        poll: () =>
          new Promise<readonly Stamped[]>((resolve) => {
            clock.timer(1, () => {
              const due = Math.floor(((clock.monotonic() - begun) / 1000) * ratePerSecond) - (position - start);
              const at = performance.now();
              const batch = Array.from({ length: Math.max(0, due) }, (_, i) => ({
                key: `key-${String((position + i) % 1000)}`,
                at,
              }));
              position += batch.length;
              resolve(batch);
            });
          }),
        position: () => position,
        close: () => Promise.resolve(),
      });
    },
  };
}
