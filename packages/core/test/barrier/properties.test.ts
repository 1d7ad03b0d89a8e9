import type { AlignmentInput, InFlight } from '@weir/core/barrier';
import { align, alignment, barrier, isBlocked, overtake, pendingId, step, track } from '@weir/core/barrier';
import fc from 'fast-check';
import type { Observable } from 'rxjs';
import { Subject } from 'rxjs';
import { describe, expect, test } from 'vitest';
import type { Element, Script, Tag } from './channel-scripts.js';
import { cutOf, play, recordsOf, scripts, undisturbedScripts } from './channel-scripts.js';

interface Run {
  readonly out: readonly Element[];
  readonly isComplete: boolean;
  /** Records that had been sent by the time each output element came. */
  readonly sent: readonly number[];
}

function run(script: Script, merge: (channels: readonly Observable<Element>[]) => Observable<Element>): Run {
  const subjects = script.channels.map(() => new Subject<Element>());
  const out: Element[] = [];
  const sent: number[] = [];
  let records = 0;
  let isComplete = false;
  merge(subjects).subscribe({
    next: (element) => {
      out.push(element);
      sent.push(records);
    },
    complete: () => (isComplete = true),
  });
  play(script, (channel, element) => {
    if (element?.kind === 'batch') records += element.records.length;
    if (element === undefined) subjects[channel]!.complete();
    else subjects[channel]!.next(element);
  });
  return { out, isComplete, sent };
}

const idsOf = (elements: readonly Element[], kind: 'barrier' | 'cancel'): number[] =>
  elements.flatMap((e) => ((e.kind === 'barrier' || e.kind === 'cancel') && e.kind === kind ? [e.checkpointId] : []));

/** Every channel's records come out, once and in its own order. */
function expectAllRecords(script: Script, out: readonly Element[]): void {
  const records = recordsOf(out);
  for (const [channel, elements] of script.channels.entries()) {
    expect(records.filter((tag) => tag.startsWith(`${channel}:`))).toEqual(recordsOf(elements));
  }
}

/** Ids of barriers ascend, and no checkpoint has two ends. */
function expectOneEndEach(out: readonly Element[]): void {
  const completed = idsOf(out, 'barrier');
  const cancelled = idsOf(out, 'cancel');
  expect(completed).toEqual([...completed].sort((a, b) => a - b));
  expect(new Set([...completed, ...cancelled]).size).toBe(completed.length + cancelled.length);
}

/** Records of each channel that came before the element at `index`. */
function countBefore(script: Script, out: readonly Element[], index: number): number[] {
  const before = recordsOf(out.slice(0, index));
  return script.channels.map((_, channel) => before.filter((tag) => tag.startsWith(`${channel}:`)).length);
}

const runs = { numRuns: 1_000 };

describe('align', () => {
  const aligned = (script: Script) => run(script, (channels) => align(channels, { maxBlocked: 1_000 }));

  test('a barrier divides the output exactly as it divides every channel', () => {
    fc.assert(
      fc.property(scripts, (script) => {
        const { out } = aligned(script);
        for (const [index, element] of out.entries()) {
          if (element.kind !== 'barrier') continue;
          expect(countBefore(script, out, index)).toEqual(script.channels.map((c) => cutOf(c, element.checkpointId)));
        }
      }),
      runs,
    );
  });

  test('nothing is lost, doubled or reordered within a channel, and no channel stays blocked', () => {
    fc.assert(
      fc.property(scripts, (script) => {
        const { out, isComplete } = aligned(script);
        expectAllRecords(script, out);
        expectOneEndEach(out);
        expect(isComplete).toBe(true);
      }),
      runs,
    );
  });

  test('every checkpoint completes as long as each channel delivers every barrier until it ends', () => {
    fc.assert(
      fc.property(undisturbedScripts, (script) => {
        const { out } = aligned(script);
        const newest = Math.max(...script.channels.map((c) => idsOf(c, 'barrier').length));
        expect(idsOf(out, 'barrier')).toEqual(Array.from({ length: newest }, (_, i) => i + 1));
        expect(idsOf(out, 'cancel')).toEqual([]);
      }),
      runs,
    );
  });
});

describe('overtake', () => {
  const overtaken = (script: Script) => {
    const inFlight: InFlight<Tag>[] = [];
    const options = { maxBuffered: 1_000, inFlight: (one: InFlight<Tag>) => inFlight.push(one) };
    return { ...run(script, (channels) => overtake(channels, options)), inFlight };
  };

  test('what came out before a barrier and what is in flight are together what each channel sent before it', () => {
    fc.assert(
      fc.property(scripts, (script) => {
        const { out, inFlight } = overtaken(script);
        for (const { checkpointId, channels } of inFlight) {
          const at = out.findIndex((e) => e.kind === 'barrier' && e.checkpointId === checkpointId);
          const before = countBefore(script, out, at);
          for (const [channel, elements] of script.channels.entries()) {
            const cut = cutOf(elements, checkpointId);
            const flying = recordsOf(channels[channel] ?? []);
            expect(flying).toEqual(recordsOf(elements).slice(before[channel], cut));
          }
        }
      }),
      runs,
    );
  });

  test('nothing is held back, lost, doubled or reordered within a channel', () => {
    fc.assert(
      fc.property(scripts, (script) => {
        const { out, isComplete, sent } = overtaken(script);
        expectAllRecords(script, out);
        for (const index of out.keys()) expect(recordsOf(out.slice(0, index + 1)).length).toBe(sent[index]);
        const completed = idsOf(out, 'barrier');
        expect(completed).toEqual([...new Set(completed)].sort((a, b) => a - b));
        expect(isComplete).toBe(true);
      }),
      runs,
    );
  });

  test('every checkpoint completes as long as each channel delivers every barrier in turn with the others', () => {
    fc.assert(
      fc.property(undisturbedScripts, (script) => {
        const { out, inFlight } = overtaken(script);
        const cancelled = idsOf(out, 'cancel');
        const complete = inFlight.map(({ checkpointId }) => checkpointId);
        // A barrier that a faster channel has left behind is given up: nothing holds the fast one back.
        expect([...complete, ...cancelled].sort((a, b) => a - b)).toEqual(idsOf(out, 'barrier'));
      }),
      runs,
    );
  });
});

describe('track', () => {
  test('holds nothing back, loses nothing, and has a barrier only after all that precedes it', () => {
    fc.assert(
      fc.property(scripts, (script) => {
        const { out, isComplete, sent } = run(script, track);
        expectAllRecords(script, out);
        expectOneEndEach(out);
        expect(isComplete).toBe(true);
        for (const [index, element] of out.entries()) {
          expect(recordsOf(out.slice(0, index + 1)).length).toBe(sent[index]);
          if (element.kind !== 'barrier') continue;
          for (const [channel, count] of countBefore(script, out, index).entries()) {
            expect(count).toBeGreaterThanOrEqual(cutOf(script.channels[channel]!, element.checkpointId));
          }
        }
      }),
      runs,
    );
  });
});

describe('the state machine, given anything in any order', () => {
  const CHANNELS = 3;
  const channel = fc.nat(CHANNELS - 1);
  const id = fc.integer({ min: 1, max: 8 });
  const input: fc.Arbitrary<AlignmentInput> = fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({ kind: fc.constant('barrier' as const), channel, barrier: id.map((n) => barrier(n)) }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('cancel' as const), channel, checkpointId: id }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('abort' as const), checkpointId: id }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('end-of-channel' as const), channel }) },
  );
  const ends: readonly AlignmentInput[] = [0, 1, 2].map((c) => ({ kind: 'end-of-channel', channel: c }));

  test('aligned: every checkpoint that started ends exactly once, and channels are blocked only while one is pending', () => {
    fc.assert(
      fc.property(fc.array(input, { maxLength: 40 }), fc.boolean(), (inputs, checkpointsAfterEnd) => {
        let state = alignment('aligned', CHANNELS, { checkpointsAfterEnd });
        const started = new Set<number>();
        const ended: number[] = [];
        let blocked = new Set<number>();
        for (const next of [...inputs, ...ends]) {
          const [after, actions] = step(state, next, 0);
          state = after;
          const pending = pendingId(state);
          if (pending !== undefined) started.add(pending);
          for (const action of actions) {
            if (action.kind === 'block') blocked.add(action.channel);
            else if (action.kind === 'unblock-all') blocked = new Set();
            else ended.push(action.kind === 'snapshot' ? action.barrier.checkpointId : action.checkpointId);
          }
          expect([0, 1, 2].filter((c) => isBlocked(state, c))).toEqual([...blocked].sort());
          if (pending === undefined) expect(blocked.size).toBe(0);
        }
        expect(new Set(ended).size).toBe(ended.length);
        expect(ended).toEqual(expect.arrayContaining([...started]));
        expect(pendingId(state)).toBeUndefined();
      }),
      runs,
    );
  });

  test('counting: no checkpoint ends twice, snapshots ascend, and no channel is ever blocked', () => {
    fc.assert(
      fc.property(fc.array(input, { maxLength: 40 }), fc.boolean(), (inputs, checkpointsAfterEnd) => {
        let state = alignment('counting', CHANNELS, { checkpointsAfterEnd });
        const ended: number[] = [];
        const snapshots: number[] = [];
        for (const next of [...inputs, ...ends]) {
          const [after, actions] = step(state, next, 0);
          state = after;
          for (const action of actions) {
            expect(action.kind === 'snapshot' || action.kind === 'abort').toBe(true);
            if (action.kind === 'snapshot') snapshots.push(action.barrier.checkpointId);
            if (action.kind === 'abort') ended.push(action.checkpointId);
          }
        }
        const all = [...ended, ...snapshots];
        expect(new Set(all).size).toBe(all.length);
        expect(snapshots).toEqual([...snapshots].sort((a, b) => a - b));
        expect(pendingId(state)).toBeUndefined();
      }),
      runs,
    );
  });

  const overtakesAfter = fc.constantFrom(undefined, 0, 5);
  const snapshot = fc.constantFrom('checkpoint' as const, 'savepoint' as const);
  const mixed: fc.Arbitrary<AlignmentInput> = fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({ channel, id, overtakesAfter, snapshot }).map(({ channel: from, id: n, ...how }) => ({
        kind: 'barrier' as const,
        channel: from,
        barrier: { ...barrier(n), ...how },
      })),
    },
    {
      weight: 4,
      arbitrary: fc.record({ kind: fc.constantFrom('timeout' as const, 'announced' as const), checkpointId: id }),
    },
    { weight: 4, arbitrary: input.filter(({ kind }) => kind !== 'barrier') },
  );

  test('barriers that may overtake among others: one snapshot and one end each, persisted from the snapshot to the last barrier only', () => {
    fc.assert(
      fc.property(fc.array(mixed, { maxLength: 40 }), fc.boolean(), (inputs, checkpointsAfterEnd) => {
        let state = alignment('aligned', CHANNELS, { checkpointsAfterEnd });
        const snapshots: number[] = [];
        const ended: number[] = [];
        let persisted = new Set<number>();
        let flying: number | undefined;
        let blocked = new Set<number>();
        for (const next of [...inputs, ...ends]) {
          const [after, actions] = step(state, next, 0);
          state = after;
          for (const action of actions) {
            switch (action.kind) {
              case 'block':
                blocked.add(action.channel);
                break;
              case 'unblock-all':
                blocked = new Set();
                break;
              case 'let-overtake':
                expect(ended).not.toContain(action.checkpointId);
                break;
              case 'persist':
                expect(flying).toBeUndefined();
                flying = action.checkpointId;
                persisted = new Set(action.channels);
                expect(action.channels.filter((c) => blocked.has(c))).toEqual([]);
                break;
              case 'persisted':
                expect(action.checkpointId).toBe(flying);
                expect(persisted.delete(action.channel)).toBe(true);
                break;
              case 'inputs-complete':
                expect([action.checkpointId, persisted.size]).toEqual([flying, 0]);
                ended.push(action.checkpointId);
                flying = undefined;
                break;
              case 'snapshot':
                snapshots.push(action.barrier.checkpointId);
                if (flying === undefined) ended.push(action.barrier.checkpointId);
                else expect(action.barrier.overtakesAfter).toBe(0);
                break;
              case 'abort':
                if (flying === action.checkpointId) {
                  flying = undefined;
                  persisted = new Set();
                }
                ended.push(action.checkpointId);
            }
          }
          expect([0, 1, 2].filter((c) => isBlocked(state, c))).toEqual([...blocked].sort());
          if (pendingId(state) === undefined) expect([blocked.size, flying]).toEqual([0, undefined]);
        }
        expect(new Set(snapshots).size).toBe(snapshots.length);
        expect(new Set(ended).size).toBe(ended.length);
        expect(ended).toEqual(expect.arrayContaining(snapshots));
      }),
      {
        ...runs,
        examples: [[[...ends, { kind: 'barrier', channel: 0, barrier: { ...barrier(1), overtakesAfter: 0 } }], true]],
      },
    );
  });
});
