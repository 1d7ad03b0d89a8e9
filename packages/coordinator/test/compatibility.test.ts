import type {
  ChannelStateHandle,
  CheckpointMetadata,
  OperatorMetadata,
  PlanDescription,
  StageDescription,
} from '@weir/core/contracts';
import { describe, expect, test } from 'vitest';
import { assignState } from '../src/compatibility.js';
import { metadataOf, planOf } from './plan.js';

const STORED = metadataOf({ checkpointId: 4 });

function withOperator(uid: string, change: Partial<OperatorMetadata>): CheckpointMetadata {
  return { ...STORED, operators: STORED.operators.map((o) => (o.uid === uid ? { ...o, ...change } : o)) };
}
const serializer = { id: 'test', version: 1 };

test('gives each subtask what the subtask of the same operator and index had stored', () => {
  const { subtasks, enumerators } = assignState(planOf(), STORED);
  expect([...subtasks.keys()]).toEqual(['numbers#0', 'out#0']);
  expect(subtasks.get('numbers#0')).toMatchObject([{ uid: 'numbers', operator: [{ name: 'position' }] }]);
  expect(subtasks.get('out#0')).toMatchObject([{ uid: 'out', committables: { newest: 4 } }]);
  expect(enumerators.size).toBe(0);
});

test('gives the enumerator its state back', () => {
  const enumerator = { serializer, bytes: Uint8Array.of(1) };
  const { enumerators } = assignState(planOf(), withOperator('numbers', { enumerator }));
  expect(enumerators.get('numbers')).toEqual({ uid: 'numbers', ...enumerator });
});

test('operators find their state by uid, also when they are chained differently now', () => {
  const plan: PlanDescription = {
    graphHash: 'other',
    isMaxParallelismSet: false,
    edges: [],
    stages: [{ ...planOf().stages[0]!, id: 'numbers', operators: planOf().stages.flatMap((s) => s.operators) }],
  };
  expect(
    assignState(plan, STORED)
      .subtasks.get('numbers#0')
      ?.map((o) => o.uid),
  ).toEqual(['numbers', 'out']);
});

test('at another parallelism everything is dealt out, each operator by its own', () => {
  const [source, sink] = planOf().stages;
  const plan: PlanDescription = { ...planOf(), stages: [{ ...source!, parallelism: 3 }, sink!] };
  const { subtasks } = assignState(plan, STORED);
  expect([...subtasks.keys()]).toEqual(['numbers#0', 'out#0']);
});

test('operators that were chained and are not any more find their state in their own stages', () => {
  const stored = withOperator('out', {
    parallelism: 2,
    subtasks: [1, 0].map((index) => ({ ...STORED.operators[1]!.subtasks[0]!, index })),
  });
  const { subtasks } = assignState(planOf(), stored);
  expect(subtasks.get('out#0')).toMatchObject([{ committables: { count: 1 } }, { committables: { count: 1 } }]);
});

test('an operator that is new starts empty', () => {
  const plan = planOf();
  const extra = { ...plan.stages[1]!, id: 'totals', operators: [{ uid: 'totals', name: 'totals', isStateful: true }] };
  const { subtasks } = assignState({ ...plan, stages: [...plan.stages, extra] }, STORED);
  expect(subtasks.has('totals#0')).toBe(false);
});

test('an operator without state gets what was in flight to it', () => {
  const edge = { producer: 'numbers', output: 0, consumer: 'out', input: 0 };
  const blob = { kind: 'inline', bytes: new Uint8Array() } as const;
  const channel = { edge, fromSubtask: 0, toSubtask: 0, serializer, timed: false, count: 0, blob };
  const flying: ChannelStateHandle = { kind: 'input', ...channel };
  const [source, sink] = planOf().stages as [StageDescription, StageDescription];
  const plan = {
    ...planOf(),
    stages: [source, { ...sink, operators: [{ uid: 'out', name: 'out', isStateful: false }] }],
  };
  const state = { index: 0, keyed: [], operator: [], committables: undefined, channels: [flying] };
  const { subtasks } = assignState(plan, withOperator('out', { subtasks: [state] }));
  expect(subtasks.get('out#0')).toEqual([expect.objectContaining({ uid: 'out', channels: [flying] })]);
});

test('an operator without state may change or go', () => {
  const stored = withOperator('numbers', { subtasks: [], parallelism: 9 });
  expect(() => assignState(planOf(), stored)).not.toThrow();
  expect(() => assignState({ ...planOf(), stages: planOf().stages.slice(1) }, stored)).not.toThrow();
});

test('an operator of which there is an entry with nothing in it had no state', () => {
  const nothing = { index: 0, keyed: [], operator: [], committables: undefined, channels: [] };
  const stored = withOperator('out', { subtasks: [nothing], parallelism: 2 });
  const [source, sink] = planOf().stages as [StageDescription, StageDescription];
  const stateless = { ...sink, operators: [{ uid: 'out', name: 'out', isStateful: false }] };
  expect(assignState({ ...planOf(), stages: [source, stateless] }, stored).subtasks.has('out#0')).toBe(false);
  expect(() => assignState({ ...planOf(), stages: [source] }, stored)).not.toThrow();
});

describe('a checkpoint that does not fit is refused, naming the operator:', () => {
  const source = planOf().stages[0]!;
  const sink = planOf().stages[1]!;
  test.each<[string, PlanDescription, CheckpointMetadata, RegExp]>([
    [
      'another maximum parallelism',
      planOf({ maxParallelism: 256 }),
      STORED,
      /operator out ran with maximum parallelism 128 and now has 256/,
    ],
    [
      'state that no operator claims',
      { ...planOf(), stages: [source] },
      STORED,
      /operator out has state in it, and the job has no such operator/,
    ],
    [
      'a source that became something else',
      { ...planOf(), stages: [{ ...source, isSource: false }, sink] },
      withOperator('numbers', { enumerator: { serializer, bytes: new Uint8Array() } }),
      /operator numbers was a source/,
    ],
    [
      'a sink with pending output that became something else',
      planOf({ sinkGrade: undefined }),
      STORED,
      /operator out was a sink with output to commit/,
    ],
    [
      'an operator that forgot its state',
      { ...planOf(), stages: [source, { ...sink, operators: [{ uid: 'out', name: 'out', isStateful: false }] }] },
      withOperator('out', { subtasks: STORED.operators[0]!.subtasks }),
      /operator out has state in it and no longer keeps any/,
    ],
  ])('%s', (_title, plan, metadata, message) => {
    let thrown: unknown;
    try {
      assignState(plan, metadata);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ code: 'CHECKPOINT_INCOMPATIBLE', recoverable: false });
    expect((thrown as Error).message).toMatch(message);
    expect((thrown as Error).message).toContain('Checkpoint 4 does not fit job orders');
  });
});
