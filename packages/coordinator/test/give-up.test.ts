import { expect, test } from 'vitest';
import { Cleaner } from '../src/cleaning.js';
import { FailureCounter } from '../src/failure-counter.js';
import { giveUpCheckpoint } from '../src/give-up.js';
import { CompletedCheckpoints } from '../src/completed-checkpoints.js';
import { PendingCheckpoint } from '../src/pending-checkpoint.js';
import { SharedFiles } from '../src/shared-files.js';
import { StatisticsRecorder } from '../src/statistics.js';
import { UnansweredCalls } from '../src/unanswered.js';
import { FakeGateway } from './fake-gateway.js';
import { Process } from './harness.js';
import { OUT, SOURCE } from './plan.js';

test('ME-04: a checkpoint that was given up holds nothing in memory, whoever still holds it', async () => {
  const { context, coordinator, storage, clock } = new Process();
  const gateway = new FakeGateway(coordinator, 1);
  const pending = new PendingCheckpoint({
    id: 1,
    trigger: 'manual',
    triggeredAt: 0,
    startedAt: 0,
    subtasks: [SOURCE, OUT],
  });
  pending.enumerators = [{ uid: 'numbers', serializer: { id: 's', version: 1 }, bytes: new Uint8Array(9) }];
  pending.location = await storage.create(1);
  pending.phase = 'collecting';
  pending.acknowledge(gateway.ackOf(1, SOURCE));

  const { verdict } = giveUpCheckpoint(
    pending,
    'CHECKPOINT_SUBSUMED',
    undefined,
    { remains: 'remove', publication: undefined },
    {
      context,
      storage,
      lock: undefined,
      shared: new SharedFiles(storage),
      ledger: new CompletedCheckpoints({ lineage: 'l', keptForUser: [], nextId: 2, completed: [], numRetained: 1 }),
      failures: new FailureCounter(0),
      unpublished: new Set(),
      statistics: new StatisticsRecorder(clock, context.metrics, context.job),
      unanswered: new UnansweredCalls(),
      cleaner: new Cleaner({
        clock,
        verifyLock: async () => undefined,
        report: () => undefined,
        unanswered: new UnansweredCalls(),
      }),
    },
  );
  expect(verdict).toBe('ignored');
  expect(pending.phase).toBe('aborted');
  expect(pending.acks).toEqual([]);
  expect(pending.enumerators).toEqual([]);
});
