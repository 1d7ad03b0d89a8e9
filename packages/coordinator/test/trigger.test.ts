import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  QUEUE_LIMIT,
  decide,
  enqueue,
  type CheckpointRequest,
  type RequestQueue,
  type TriggerFacts,
  type TriggerLimits,
} from '../src/trigger.js';

// Source tests: CheckpointRequestDeciderTest.

const IDLE: TriggerFacts = { isTriggering: false, pending: 0, collecting: 0, lastEndedAt: undefined, now: 100 };
const LIMITS: TriggerLimits = { maxConcurrent: 1, minPauseMs: 0, unaligned: false };

let sequence = 0;
function ask(trigger: CheckpointRequest['trigger'], createdAt = 0): CheckpointRequest {
  return { trigger, createdAt, sequence: sequence++ };
}
function queueOf(...requests: readonly CheckpointRequest[]): RequestQueue<CheckpointRequest> {
  return requests.reduce((queue: RequestQueue<CheckpointRequest>, r) => enqueue(queue, r).queue, []);
}
function run(
  queue: RequestQueue<CheckpointRequest>,
  facts: Partial<TriggerFacts>,
  limits: Partial<TriggerLimits> = {},
): string {
  const decision = decide(queue, { ...IDLE, ...facts }, { ...LIMITS, ...limits });
  return decision.kind === 'run' ? decision.request.trigger : decision.kind;
}

describe('the queue of requests', () => {
  test('holds final before manual before periodic requests, and within each the earlier first', () => {
    const requests = [ask('manual', 5), ask('periodic', 0), ask('manual', 4), ask('final', 9), ask('manual', 5)];
    const queue = queueOf(...requests);
    expect(queue.map((r) => requests.indexOf(r))).toEqual([3, 2, 0, 4, 1]);
  });

  test('testSavepointTiming: holds savepoints before everything else, also those to stop with', () => {
    const requests = [ask('final', 0), ask('manual', 0), ask('stop', 5), ask('periodic', 0), ask('savepoint', 4)];
    expect(queueOf(...requests).map((r) => r.trigger)).toEqual(['savepoint', 'stop', 'final', 'manual', 'periodic']);
  });

  test('testQueueSizeLimit: of 11 requests for 10 places exactly one is refused', () => {
    let queue: RequestQueue<CheckpointRequest> = [];
    const refused = Array.from({ length: 11 }, (_, i) => {
      const added = enqueue(queue, ask('manual', i), 10);
      queue = added.queue;
      return added.refused;
    }).filter((r) => r !== undefined);
    expect(refused).toHaveLength(1);
    expect(queue).toHaveLength(10);
  });

  test('testQueueSizeLimitPriority: a full queue gives up a periodic request for a manual one', () => {
    const waiting = ask('periodic');
    const manual = ask('manual');
    expect(enqueue([waiting], manual, 1)).toEqual({ queue: [manual], refused: waiting });
  });

  test('a queue full of requests that people made refuses the new one, even a final one', () => {
    const waiting = ask('manual');
    const final = ask('final');
    expect(enqueue([waiting], final, 1)).toEqual({ queue: [waiting], refused: final });
  });

  test('holds 1000 requests unless told otherwise', () => {
    const full = Array.from({ length: QUEUE_LIMIT }, () => ask('manual'));
    expect(QUEUE_LIMIT).toBe(1000);
    expect(enqueue(full, ask('manual', 1)).queue).toHaveLength(1000);
  });

  test('a periodic request that waits stands for all that come meanwhile', () => {
    const waiting = ask('periodic', 1);
    const later = ask('periodic', 2);
    expect(enqueue(queueOf(ask('manual'), waiting), later)).toMatchObject({
      queue: [{ trigger: 'manual' }, waiting],
      refused: later,
    });
  });
});

describe('the decision', () => {
  test.each([
    ['an empty queue waits', [], {}, {}, 'wait'],
    ['nothing runs while another is being set up', [ask('final')], { isTriggering: true }, {}, 'wait'],
    [
      'testEnqueueOnTooManyPending: the limit of pending checkpoints holds back a manual one',
      [ask('manual')],
      { pending: 1 },
      {},
      'wait',
    ],
    ['testNonForcedEnqueueOnTooManyPending: and a periodic one', [ask('periodic')], { pending: 1 }, {}, 'wait'],
    ['testForcedExecution: but not the final one', [ask('final')], { pending: 5 }, {}, 'final'],
    [
      'testCheckpointTiming: a periodic request inside the pause is dropped',
      [ask('periodic')],
      { lastEndedAt: 100 },
      { minPauseMs: 10 },
      'too-early',
    ],
    [
      'testSavepointTiming: a manual one runs at once',
      [ask('manual')],
      { lastEndedAt: 100 },
      { minPauseMs: 10 },
      'manual',
    ],
    [
      'testSavepointTiming: and so does the final one',
      [ask('final')],
      { lastEndedAt: 100 },
      { minPauseMs: 10 },
      'final',
    ],
    [
      'the pause has passed when exactly its time has',
      [ask('periodic')],
      { lastEndedAt: 90 },
      { minPauseMs: 10 },
      'periodic',
    ],
    ['before the first end there is no pause', [ask('periodic')], {}, { minPauseMs: 1e9 }, 'periodic'],
  ] as const)('%s', (_title, requests, facts, limits, expected) => {
    expect(run(queueOf(...requests), facts, limits)).toBe(expected);
  });

  test('a request that is too early says exactly how long it is so', () => {
    const facts = { ...IDLE, lastEndedAt: 97 };
    expect(decide([ask('periodic')], facts, { ...LIMITS, minPauseMs: 10 })).toMatchObject({ retryInMs: 7, queue: [] });
  });

  test('testMinDelayBetweenSavepoints: a huge pause lets two manual requests in a row through', () => {
    const limits = { minPauseMs: 1e9 };
    const first = decide(queueOf(ask('manual'), ask('manual')), IDLE, { ...LIMITS, ...limits });
    expect(first.kind).toBe('run');
    expect(run(first.kind === 'run' ? first.queue : [], { lastEndedAt: 100 }, limits)).toBe('manual');
  });
});

const FORCED: readonly string[] = ['final', 'savepoint', 'stop'];

test('decides as the plain reading of the rules does, whatever is asked and however things stand', () => {
  const request = fc.record({
    trigger: fc.constantFrom<CheckpointRequest['trigger'][]>('periodic', 'manual', 'final', 'savepoint', 'stop'),
    createdAt: fc.nat(5),
  });
  const facts = fc.record({
    isTriggering: fc.boolean(),
    pending: fc.nat(3),
    collecting: fc.nat(3),
    lastEndedAt: fc.option(fc.nat(20), { nil: undefined }),
    now: fc.integer({ min: 20, max: 30 }),
  });
  const limits = fc.record({
    maxConcurrent: fc.integer({ min: 1, max: 3 }),
    minPauseMs: fc.nat(20),
    unaligned: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(request, { maxLength: 12 }), fc.nat(6), facts, limits, (asked, limit, state, bounds) => {
      // The model keeps an unsorted bag and looks for the most urgent each time.
      const bag: CheckpointRequest[] = [];
      const modelRefused: CheckpointRequest[] = [];
      let queue: RequestQueue<CheckpointRequest> = [];
      const refused: CheckpointRequest[] = [];
      const order = (r: CheckpointRequest): number[] => [
        ['savepoint or stop', 'final', 'manual', 'periodic'].findIndex((name) => name.includes(r.trigger)),
        r.createdAt,
        r.sequence,
      ];
      const sorted = (): CheckpointRequest[] =>
        [...bag].sort(
          (a, b) =>
            order(a)
              .map((x, i) => x - (order(b)[i] ?? 0))
              .find((d) => d !== 0) ?? 0,
        );
      asked.forEach((parts, i) => {
        const r = { ...parts, sequence: i };
        const added = enqueue(queue, r, limit + 1);
        queue = added.queue;
        if (added.refused !== undefined) refused.push(added.refused);

        const last = sorted().at(-1);
        if (r.trigger === 'periodic' && bag.some(({ trigger }) => trigger === 'periodic')) modelRefused.push(r);
        else if (bag.length >= limit + 1 && last !== undefined && last.trigger !== 'periodic') modelRefused.push(r);
        else {
          bag.push(r);
          const worst = sorted().at(-1);
          if (bag.length > limit + 1 && worst !== undefined) {
            bag.splice(bag.indexOf(worst), 1);
            modelRefused.push(worst);
          }
        }
      });
      expect(queue).toEqual(sorted());
      expect(refused).toEqual(modelRefused);

      const head = sorted()[0];
      const pauseLeft = state.lastEndedAt === undefined ? 0 : state.lastEndedAt + bounds.minPauseMs - state.now;
      let expected = 'run';
      if (head === undefined || state.isTriggering) expected = 'wait';
      else if (
        (['savepoint', 'stop'].includes(head.trigger) ? state.collecting : state.pending) >= bounds.maxConcurrent &&
        !(bounds.unaligned ? ['final'] : FORCED).includes(head.trigger)
      )
        expected = 'wait';
      else if (head.trigger === 'periodic' && pauseLeft > 0) expected = 'too-early';
      const decision = decide(queue, state, bounds);
      expect(decision.kind).toBe(expected);
      if (decision.kind !== 'wait') {
        expect(decision.request).toBe(head);
        expect(decision.queue).toEqual(sorted().slice(1));
      }
    }),
  );
});

describe('a savepoint', () => {
  test.each(['savepoint', 'stop'] as const)(
    'runs beside any number of checkpoints and inside any pause (%s)',
    (trigger) => {
      const busy = { pending: 7, lastEndedAt: 99 };
      expect(run(queueOf(ask(trigger), ask('periodic')), busy, { minPauseMs: 10_000 })).toBe(trigger);
    },
  );

  test('testSavepointScheduledInUnalignedMode: waits for an unaligned checkpoint, before all that wait for it too', () => {
    const queue = queueOf(ask('manual', 0), ask('periodic', 0), ask('savepoint', 9));
    expect(run(queue, { pending: 1, collecting: 1 }, { unaligned: true })).toBe('wait');
    expect(run(queue, { pending: 0 }, { unaligned: true })).toBe('savepoint');
  });

  test('does not wait for an unaligned checkpoint that is being published: its barriers have all arrived', () => {
    expect(run(queueOf(ask('savepoint')), { pending: 1, collecting: 0 }, { unaligned: true })).toBe('savepoint');
    expect(run(queueOf(ask('manual')), { pending: 1, collecting: 0 }, { unaligned: true })).toBe('wait');
  });
});
