import type { AlignmentInput } from '@weir/core/barrier';
import { align, alignment, barrier, isBlocked, pendingId, step, track } from '@weir/core/barrier';
import fc from 'fast-check';
import type { Observable } from 'rxjs';
import { Subject } from 'rxjs';
import { describe, expect, test } from 'vitest';
import type { Element, Script } from './channel-scripts.js';
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
});
