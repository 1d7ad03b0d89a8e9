import {
  decodeMetadata,
  encodeMetadata,
  subtaskName,
  type CheckpointMetadata,
  type OperatorMetadata,
  type PlanDescription,
  type SubtaskId,
} from '@weir/core/contracts';
import { describe, expect, test } from 'vitest';
import { checkFinished, finishedSubtasks } from '../src/finished-subtasks.js';
import type { FakeGateway } from './fake-gateway.js';
import { Process, stateOf } from './harness.js';
import { metadataOf, OUT, planOf, SOURCE } from './plan.js';

// Source tests: CheckpointCoordinatorTest, DefaultCheckpointPlanTest and VertexFinishedStateCheckerTest of Flink, and FLIP-147.

const both = (index: number): readonly SubtaskId[] => [
  { stage: 'numbers', index },
  { stage: 'out', index },
];
const PARALLEL = planOf({ parallelism: 3 });
const SIX = [0, 1, 2].flatMap(both);

function finish(gateway: FakeGateway, ...subtasks: readonly SubtaskId[]): void {
  for (const subtask of subtasks) gateway.finished.add(subtaskName(subtask));
}
function stored(p: Process, id: number): CheckpointMetadata {
  return decodeMetadata(p.disk.folders.get(id)?.metadata ?? new Uint8Array(), 'the disk');
}
function operator(metadata: CheckpointMetadata, uid: string): OperatorMetadata | undefined {
  return metadata.operators.find((o) => o.uid === uid);
}

describe('a checkpoint after subtasks have finished', () => {
  test('testCheckpointTriggeredAfterSomeTasksFinishedIfAllowed: three of six count as having answered', async () => {
    const p = new Process({ plan: PARALLEL });
    const gateway = await p.launch();
    gateway.subtasks = SIX;
    finish(gateway, ...both(0), { stage: 'numbers', index: 1 });
    const done = p.coordinator.triggerCheckpoint();
    await p.clock.settle();
    expect(p.coordinator.statistics().history).toMatchObject([{ outcome: 'in-progress', acked: 3, expected: 6 }]);

    for (const subtask of [{ stage: 'out', index: 1 }, ...both(2)]) gateway.ack(1, subtask);
    await done;
    expect(operator(stored(p, 1), 'numbers')).toMatchObject({ status: 'partly-finished', finishedSubtasks: [0, 1] });
    expect(operator(stored(p, 1), 'numbers')?.subtasks.map(({ index }) => index)).toEqual([2]);
    expect(operator(stored(p, 1), 'out')).toMatchObject({ status: 'partly-finished', finishedSubtasks: [0] });
  });

  test('waits for who has finished by the time its barriers leave, not by the time it is asked for', async () => {
    const p = new Process();
    const gateway = await p.launch();
    gateway.enumerate = async () => {
      finish(gateway, SOURCE);
      return [];
    };
    const done = p.coordinator.triggerCheckpoint();
    await p.clock.settle();
    gateway.ack(1, OUT);
    await done;
    expect(operator(stored(p, 1), 'numbers')).toMatchObject({ status: 'finished', subtasks: [] });
  });

  test('does not go without one that finishes while it is pending: that one has had its barrier', async () => {
    const p = new Process();
    const gateway = await p.launch();
    const done = p.coordinator.triggerCheckpoint();
    await p.clock.settle();
    finish(gateway, SOURCE);
    gateway.ack(1, OUT);
    expect(await stateOf(done)).toBe('pending');
    gateway.ack(1, SOURCE);
    await done;
    expect(operator(stored(p, 1), 'numbers')).toMatchObject({ status: 'running' });
  });

  test('says of whom was past the end before the barrier, with what is left to commit', async () => {
    const p = new Process();
    const gateway = await p.launch();
    const done = p.coordinator.triggerCheckpoint();
    await p.clock.settle();
    for (const subtask of [SOURCE, OUT]) {
      const ack = gateway.ackOf(1, subtask);
      p.coordinator.receive({ ...ack, snapshot: { ...ack.snapshot, finished: true } });
    }
    await done;
    expect(stored(p, 1).operators.map(({ status }) => status)).toEqual(['finished', 'finished']);
    expect(operator(stored(p, 1), 'out')?.subtasks[0]?.committables?.count).toBe(1);

    const next = new Process({ disk: p.disk });
    p.storage.die();
    await next.start();
    const { restore } = await next.coordinator.beginAttempt();
    expect([...(restore?.finished ?? [])]).toEqual(['numbers#0', 'out#0']);
  });

  test('of nobody at all completes by itself', async () => {
    const p = new Process();
    const gateway = await p.launch();
    finish(gateway, SOURCE, OUT);
    const stats = await p.coordinator.triggerCheckpoint();
    expect([stats.checkpointId, p.disk.complete]).toEqual([1, [1]]);
  });

  test('is not needed at the end if everybody has finished', async () => {
    const p = new Process();
    const gateway = await p.launch();
    finish(gateway, SOURCE, OUT);
    await p.coordinator.finalCheckpoint();
    expect(gateway.triggered).toEqual([]);
  });

  test('is refused where that is switched off, except for the final one', async () => {
    const p = new Process({ settings: { checkpointsAfterFinish: false, intervalMs: 10 } });
    const gateway = await p.launch();
    await p.clock.until(() => gateway.triggered.length === 1);
    gateway.ackAll(1);
    await p.clock.settle();
    finish(gateway, SOURCE);
    await expect(p.coordinator.triggerCheckpoint()).rejects.toMatchObject({
      message: expect.stringContaining('NOT_ALL_REQUIRED_TASKS_RUNNING'),
    });
    await p.clock.advance(100);
    expect(gateway.triggered).toEqual([1]);
    const final = p.coordinator.finalCheckpoint();
    await p.clock.settle();
    expect(gateway.triggered).toEqual([1, 2]);
    gateway.ack(2, OUT);
    await final;
  });
});

describe('state that is for every subtask (union)', () => {
  test.each([
    { who: 'a subtask that has finished', has: 'finished' },
    { who: 'a subtask that says that it is past its end', has: 'reported' },
  ])('testAbortionOfPartlyFinishedUnionListState: is not stored without that of $who', async ({ has }) => {
    const p = new Process({ plan: planOf({ parallelism: 2 }) });
    const gateway = await p.launch();
    gateway.subtasks = [0, 1].flatMap(both);
    const done = p.coordinator.triggerCheckpoint();
    const failed = expect(done).rejects.toMatchObject({
      message: expect.stringMatching(/CHECKPOINT_DECLINED_TASK_CLOSING.*numbers/),
    });
    if (has === 'finished') finish(gateway, { stage: 'numbers', index: 0 });
    await p.clock.settle();
    for (const subtask of gateway.subtasks) {
      if (gateway.finished.has(subtaskName(subtask))) continue;
      const { snapshot, ...ack } = gateway.ackOf(1, subtask);
      const isFirst = subtaskName(subtask) === 'numbers#0';
      const operators = snapshot.operators.map((o) => ({
        ...o,
        operator: isFirst ? [] : o.operator.map((handle) => ({ ...handle, mode: 'union' as const })),
      }));
      p.coordinator.receive({ ...ack, snapshot: { ...snapshot, operators, finished: isFirst } });
    }
    await failed;
    // It is not a failure of the checkpoint.
    expect([p.failures, p.disk.complete, p.told('checkpoint-aborted')]).toMatchObject([[], [], [{ counted: false }]]);
  });

  test('is stored once all of them have finished', async () => {
    const p = new Process();
    const gateway = await p.launch();
    const done = p.coordinator.triggerCheckpoint();
    await p.clock.settle();
    const { snapshot, ...ack } = gateway.ackOf(1, SOURCE);
    const operators = snapshot.operators.map((o) => ({
      ...o,
      operator: o.operator.map((handle) => ({ ...handle, mode: 'union' as const })),
    }));
    p.coordinator.receive({ ...ack, snapshot: { ...snapshot, operators, finished: true } });
    gateway.ack(1, OUT);
    await done;
    expect(p.disk.complete).toEqual([1]);
  });
});

describe('a plan that is to go on from subtasks that had finished', () => {
  type How = 'running' | 'partly' | 'finished' | 'new';
  const status = (how: How): Pick<OperatorMetadata, 'status' | 'finishedSubtasks'> =>
    how === 'partly'
      ? { status: 'partly-finished', finishedSubtasks: [1] }
      : { status: how === 'finished' ? 'finished' : 'running' };

  function restoring(
    numbers: How,
    out: How,
    change: (plan: PlanDescription) => PlanDescription = (plan) => plan,
  ): { plan: PlanDescription; metadata: CheckpointMetadata } {
    const plan = change(planOf({ parallelism: 2 }));
    const metadata = metadataOf();
    const operators = metadata.operators
      .map((o) => ({ ...o, parallelism: 2, ...status(o.uid === 'numbers' ? numbers : out) }))
      .filter(({ uid }) => (uid === 'numbers' ? numbers : out) !== 'new');
    return { plan, metadata: { ...metadata, operators } };
  }
  const allToAll = (plan: PlanDescription): PlanDescription => ({
    ...plan,
    edges: plan.edges.map((edge) => ({ ...edge, isPointwise: false })),
  });
  const chained = ({ stages, ...plan }: PlanDescription): PlanDescription => ({
    ...plan,
    edges: [],
    stages: stages.slice(0, 1).map((stage) => ({ ...stage, operators: stages.flatMap(({ operators }) => operators) })),
  });

  test.each<[numbers: How, out: How, pointwise: boolean, isLegal: boolean]>([
    ['finished', 'finished', true, true],
    ['finished', 'finished', false, true],
    ['finished', 'partly', false, true],
    ['finished', 'running', true, true],
    ['finished', 'new', true, true],
    ['partly', 'finished', true, false],
    ['running', 'finished', true, false],
    ['new', 'finished', false, false],
    ['partly', 'partly', true, true],
    ['partly', 'partly', false, false],
    ['running', 'partly', true, false],
    ['running', 'partly', false, false],
    ['partly', 'running', false, true],
  ])(
    'testValidation: behind a source that was %s one that was %s is, pointwise %s, legal: %s',
    (numbers, out, pointwise, isLegal) => {
      const { plan, metadata } = restoring(numbers, out, pointwise ? undefined : allToAll);
      const check = (): void => {
        checkFinished(plan, metadata);
      };
      if (isLegal) expect(check).not.toThrow();
      else
        expect(check).toThrow(
          expect.objectContaining({ code: 'CHECKPOINT_INCOMPATIBLE', message: expect.stringContaining('out had') }),
        );
    },
  );

  test('refuses to put something that has finished and something that has not into one stage', () => {
    const { plan, metadata } = restoring('finished', 'running', chained);
    expect(() => {
      checkFinished(plan, metadata);
    }).toThrow(/operators numbers, out share a stage/);
    const alike = restoring('partly', 'partly', chained);
    checkFinished(alike.plan, alike.metadata);
  });

  test('names the parallelism that kept them apart, where another one has brought them together', () => {
    const { plan, metadata } = restoring('finished', 'running', chained);
    const wider = { ...plan, stages: plan.stages.map((stage) => ({ ...stage, parallelism: 5 })) };
    expect(() => {
      checkFinished(wider, metadata);
    }).toThrow(/only some of them had finished \(start them at the parallelism that they had: numbers \d, out \d\)/);
  });

  test('lets everything run in a stage of which one operator had finished in part, and another had not', () => {
    const { plan, metadata } = restoring('partly', 'running', chained);
    checkFinished(plan, metadata);
    expect([...finishedSubtasks(plan, metadata)]).toEqual([]);
    const alike = restoring('partly', 'partly', chained);
    expect([...finishedSubtasks(alike.plan, alike.metadata)]).toEqual(['numbers#1']);
  });

  test('lets run again what had finished in part behind what runs again by another parallelism', () => {
    const { plan, metadata } = restoring('partly', 'partly', allToAll);
    const [numbers, ...rest] = plan.stages;
    const wider = { ...plan, stages: [{ ...numbers!, parallelism: 3 }, ...rest] };
    checkFinished(wider, metadata);
    expect([...finishedSubtasks(wider, metadata)]).toEqual([]);
  });

  test('lets everything run in a stage of which an operator had finished in part and has another parallelism now', () => {
    const { plan, metadata } = restoring('partly', 'running', chained);
    const wider = { ...plan, stages: plan.stages.map((stage) => ({ ...stage, parallelism: 3 })) };
    checkFinished(wider, metadata);
    expect([...finishedSubtasks(wider, metadata)]).toEqual([]);
  });

  test('is refused at the start, before anything runs', async () => {
    const { metadata } = restoring('running', 'finished');
    const p = new Process();
    p.disk.folders.set(1, { files: new Set(), metadata: encodeMetadata(metadata) });
    await expect(p.start()).rejects.toMatchObject({ code: 'CHECKPOINT_INCOMPATIBLE' });
  });

  test('passes over the subtasks that had finished, and over all where the whole operator had', () => {
    const { plan, metadata } = restoring('finished', 'partly');
    expect([...finishedSubtasks(plan, metadata)]).toEqual(['numbers#0', 'numbers#1', 'out#1']);
  });

  test('runs all subtasks of an operator that had finished in part if there are more or fewer of them now', () => {
    const { metadata } = restoring('finished', 'partly');
    expect([...finishedSubtasks(planOf({ parallelism: 3 }), metadata)]).toEqual([
      'numbers#0',
      'numbers#1',
      'numbers#2',
    ]);
  });
});
