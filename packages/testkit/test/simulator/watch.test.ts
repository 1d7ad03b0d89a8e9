import { describe, expect, test } from 'vitest';
import { Watch } from '../../src/simulator/watch.js';

const stored = (id: number, complete = true) => ({ id, pointer: `chk-${String(id)}`, complete });
const committable = (checkpointId: number) => ({
  identity: { job: 'job', lineage: 'l', sink: 'sink', attempt: 1, checkpointId, subtask: 0, sequence: 0 },
  payload: undefined,
});

describe('what is watched in a simulation', () => {
  test('is content with the order that is promised', () => {
    const watch = new Watch();
    watch.sees({ kind: 'checkpoint-triggered', checkpointId: 1, trigger: 'periodic', at: 0 });
    watch.publishes(1);
    watch.commits([committable(1)]);
    watch.sees({ kind: 'checkpoint-triggered', checkpointId: 2, trigger: 'periodic', at: 0 });
    watch.publishes(2);
    watch.deletes(stored(1));
    watch.finished();
    watch.deletes(stored(2));
    expect(watch.violations).toEqual([]);
  });

  test('finds a commit before its _metadata', () => {
    const watch = new Watch();
    watch.publishes(1);
    watch.commits([committable(1), committable(2)]);
    expect(watch.violations).toEqual([
      'sink sink committed output of checkpoint 2 when 1 was the newest that is complete',
    ]);
  });

  test('finds a newest checkpoint that is deleted before the job has finished, but lets remains go', () => {
    const watch = new Watch();
    watch.publishes(1);
    watch.deletes(stored(2, false));
    expect(watch.violations).toEqual([]);
    watch.deletes(stored(1));
    expect(watch.violations).toHaveLength(1);
  });

  test('finds ids that do not grow', () => {
    const watch = new Watch();
    const times = {
      triggeredAt: 0,
      completedAt: 0,
      durationMs: 0,
      stateBytes: 0,
      writtenBytes: 0,
      alignmentMs: 0,
      pointer: '',
      at: 0,
      inFlightRecords: 0,
    };
    watch.sees({ kind: 'checkpoint-completed', checkpointId: 2, trigger: 'periodic', ...times });
    watch.sees({ kind: 'checkpoint-completed', checkpointId: 1, trigger: 'periodic', ...times });
    watch.publishes(2);
    watch.begins();
    watch.sees({ kind: 'checkpoint-triggered', checkpointId: 2, trigger: 'periodic', at: 0 });
    expect(watch.violations).toEqual([
      'checkpoint 1 completed after checkpoint 2',
      'checkpoint 2 was triggered after 2',
    ]);
  });
});
