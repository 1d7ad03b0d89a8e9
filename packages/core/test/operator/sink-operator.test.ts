import { VirtualClock } from '@weir/testkit';
import { Subject } from 'rxjs';
import { describe, expect, test } from 'vitest';
import type { Committer, CommitOutcome, Sink, SinkWriter, SinkWriterContext } from '../../src/contracts/sink.js';
import type { Committable } from '../../src/contracts/snapshot.js';
import { batch, type StreamElement } from '../../src/element/element.js';
import type { CheckpointId } from '../../src/element/ids.js';
import type { RestoredState } from '../../src/operator/operator.js';
import { SinkOperator } from '../../src/operator/sink-operator.js';
import { prepareSink, type SinkServices } from '../../src/operator/sink-services.js';
import { encodeCommittables, readCommittables } from '../../src/snapshot/committables.js';
import { defaultSerializer } from '../../src/state/default-serializer.js';
import { deferred } from '../support/deferred.js';
import { operatorContext } from '../support/operator-context.js';
import { sinkServices } from '../support/sinks.js';

type Payload = readonly string[];

/** A transactional sink that logs what is asked of it; `writer` and `commit` replace its parts. */
class SinkBench {
  readonly log: string[] = [];
  readonly committed: Committable[] = [];
  readonly errors: unknown[] = [];
  readonly clock = new VirtualClock();
  readonly abort = new AbortController();
  readonly operator: SinkOperator<string>;
  context: SinkWriterContext | undefined;
  readonly #input = new Subject<StreamElement<string>>();

  constructor(
    options: {
      readonly writer?: Partial<SinkWriter<string, Payload>>;
      readonly commit?: (committables: readonly Committable[]) => Promise<readonly CommitOutcome[]>;
      readonly sink?: Partial<Sink<string, 'exactly-once', Payload>>;
      readonly services?: Partial<SinkServices>;
    } = {},
  ) {
    let pending: string[] = [];
    const sink: Sink<string, 'exactly-once', Payload> = {
      grade: 'exactly-once',
      open: (context) => {
        this.context = context;
        this.log.push('open');
        return {
          write: (records) => void pending.push(...records),
          prepareCommit: () => {
            const prepared = pending;
            pending = [];
            return prepared.length === 0 ? [] : [prepared];
          },
          close: () => void this.log.push('close writer'),
          ...options.writer,
        };
      },
      committer: (): Committer<Payload> => ({
        commit: async (committables) => {
          const outcomes = await (options.commit?.(committables) ??
            committables.map((): CommitOutcome => ({ kind: 'committed' })));
          this.committed.push(...committables.filter((_, i) => outcomes[i]?.kind === 'committed'));
          this.log.push(`commit ${committables.map(({ identity }) => identity.checkpointId).join(',')}`);
          return outcomes;
        },
        close: () => void this.log.push('close committer'),
      }),
      ...options.sink,
    };
    const context = operatorContext({ uid: 'out', clock: this.clock, signal: this.abort.signal });
    this.operator = new SinkOperator(sink, context, sinkServices(options.services));
    this.operator.connect(this.#input).subscribe({ error: (error) => this.errors.push(error) });
  }

  write(...records: readonly string[]): void {
    this.#input.next(batch(records));
  }
  async checkpoint(id: CheckpointId): Promise<readonly Committable[]> {
    await this.operator.prepare(id, 'checkpoint');
    return this.operator.capture(id)?.committables?.values ?? [];
  }
}
const payloads = (committables: readonly Committable[]): unknown[] => committables.map(({ payload }) => payload);
const restored = (committables: readonly Committable[], state: readonly unknown[] = []): RestoredState =>
  ({
    checkpointId: 1,
    operatorState: () => Promise.resolve(state),
    committables: () => Promise.resolve(committables),
  }) as unknown as RestoredState;

describe('committables', () => {
  test('have an identity that is fixed when they are made and differs from every other', async () => {
    const bench = new SinkBench();
    await bench.operator.open();
    bench.write('a');
    await bench.checkpoint(4);
    bench.write('b');
    const captured = await bench.checkpoint(7);
    const whole = { job: 'test', lineage: 'lineage', sink: 'out', attempt: 1, subtask: 0 };
    expect(captured).toEqual([
      { identity: { ...whole, checkpointId: 4, sequence: 0 }, payload: ['a'] },
      { identity: { ...whole, checkpointId: 7, sequence: 1 }, payload: ['b'] },
    ]);
  });

  test('have the same text when a checkpoint gives them back', async () => {
    const bench = new SinkBench();
    await bench.operator.open();
    bench.write('a');
    await bench.operator.prepare(3, 'checkpoint');
    const captured = bench.operator.capture(3)!.committables!;
    const { bytes, ...handle } = encodeCommittables(captured);
    const again = readCommittables({ ...handle, blob: { kind: 'inline', bytes } }, bytes, defaultSerializer, 'a test');
    expect(JSON.stringify(again)).toBe(JSON.stringify(captured.values));
  });

  test('of a checkpoint that was aborted stay in those after it, and are committed with the next that completes', async () => {
    const bench = new SinkBench();
    await bench.operator.open();
    bench.write('a');
    await bench.checkpoint(1);
    bench.write('b');
    expect(payloads(await bench.checkpoint(2))).toEqual([['a'], ['b']]);
    await bench.operator.completed(2);
    expect(payloads(bench.committed)).toEqual([['a'], ['b']]);
    expect(await bench.checkpoint(3)).toEqual([]);
  });

  test('testNotifyOfCompletedCheckpoint: of later checkpoints are left alone', async () => {
    const bench = new SinkBench();
    await bench.operator.open();
    for (const [i, record] of ['a', 'b', 'c'].entries()) {
      bench.write(record);
      await bench.checkpoint(i + 1);
    }
    await bench.operator.completed(2);
    expect(payloads(bench.committed)).toEqual([['a'], ['b']]);
    expect(payloads(await bench.checkpoint(4))).toEqual([['c']]);
  });

  test('stay in checkpoints until their commit is confirmed, and are committed once', async () => {
    const outcome = deferred<readonly CommitOutcome[]>();
    let commits = 0;
    const bench = new SinkBench({ commit: () => (commits++, outcome.promise) });
    await bench.operator.open();
    bench.write('a');
    await bench.checkpoint(1);
    const told = [1, 2].map(async (id) => bench.operator.completed(id));
    expect(payloads(await bench.checkpoint(2))).toEqual([['a']]);
    outcome.resolve([{ kind: 'committed' }]);
    await Promise.all(told);
    expect(commits).toBe(1);
    expect(await bench.checkpoint(3)).toEqual([]);
  });

  test('testFailBeforeNotify: that were restored are committed before the writer opens, whatever attempt made them', async () => {
    const before = new SinkBench();
    await before.operator.open();
    before.write('a');
    const captured = await before.checkpoint(5);
    const after = new SinkBench();
    await after.operator.restore(restored(captured, ['state']));
    await after.operator.open();
    expect(after.log).toEqual(['commit 5', 'open']);
    expect(after.committed).toEqual(captured);
    expect(after.context?.restoredState).toEqual(['state']);
  });

  test('of a subtask that had finished are committed without opening a writer', async () => {
    const before = new SinkBench();
    await before.operator.open();
    before.write('a');
    const captured = await before.checkpoint(5);
    const after = new SinkBench();
    await after.operator.commitRestored(restored(captured));
    expect(after.log).toEqual(['commit 5', 'close committer']);
    expect(after.committed).toEqual(captured);

    const failing = new SinkBench({ commit: async () => [{ kind: 'failed', error: new Error('gone') }] });
    await expect(failing.operator.commitRestored(restored(captured))).rejects.toMatchObject({ code: 'COMMIT_FAILED' });
    expect(failing.log.at(-1)).toBe('close committer');
  });

  test('that were restored for a sink that has no committer any more are not dropped', async () => {
    const before = new SinkBench();
    await before.operator.open();
    before.write('a');
    const captured = await before.checkpoint(5);
    const after = new SinkBench({ sink: { committer: undefined as never } });
    await after.operator.restore(restored(captured));
    await expect(after.operator.open()).rejects.toMatchObject({ code: 'CHECKPOINT_INCOMPATIBLE', recoverable: false });
  });

  test('need a committer', async () => {
    const bench = new SinkBench({ sink: { committer: undefined as never } });
    await bench.operator.open();
    bench.write('a');
    await expect(bench.checkpoint(1)).rejects.toMatchObject({ code: 'PROTOCOL_VIOLATION' });
  });

  test('that no serializer takes are refused with the name of the sink', async () => {
    const bench = new SinkBench({ writer: { prepareCommit: () => [(() => undefined) as never] } });
    await bench.operator.open();
    await bench.operator.prepare(1, 'checkpoint');
    const { committables } = bench.operator.capture(1) ?? {};
    expect(() => encodeCommittables(committables!)).toThrow(/VALUE_NOT_SERIALIZABLE.*committables.*'out'/);
  });

  test('are not made outside of checkpoints while these are taken', async () => {
    const bench = new SinkBench();
    await bench.operator.open();
    await expect(bench.context?.commitNow([['a']])).rejects.toMatchObject({ code: 'PROTOCOL_VIOLATION' });
    expect(bench.committed).toEqual([]);
  });
});

describe('a checkpoint of a sink', () => {
  test('flushes, then prepares, then stores the state of the writer', async () => {
    const log: string[] = [];
    const bench = new SinkBench({
      writer: {
        flush: async () => void log.push('flush'),
        prepareCommit: (id) => {
          log.push(`prepare ${String(id)}`);
          return [];
        },
        state: (id) => {
          log.push(`state ${String(id)}`);
          return [{ at: id }];
        },
      },
    });
    await bench.operator.open();
    await bench.operator.prepare(3, 'checkpoint');
    const capture = bench.operator.capture(3);
    expect(log).toEqual(['flush', 'prepare 3', 'state 3']);
    expect(capture?.operatorState?.[0]).toMatchObject({ name: 'writer', mode: 'list', values: [{ at: 3 }] });
  });

  test('holds nothing of a writer that has neither state nor output', async () => {
    const bench = new SinkBench();
    await bench.operator.open();
    await bench.operator.prepare(1, 'checkpoint');
    expect(bench.operator.capture(1)).toBeUndefined();
  });

  test('does not wait for a writer that has nothing to prepare', async () => {
    const bench = new SinkBench({ writer: { prepareCommit: undefined as never } });
    await bench.operator.open();
    expect(bench.operator.prepare(1, 'checkpoint')).toBeUndefined();
  });
});

describe('without checkpoints a sink', () => {
  const off = { services: { checkpointing: false } };

  test('publishes what it has at the end of data, as checkpoint 0', async () => {
    const bench = new SinkBench(off);
    await bench.operator.open();
    bench.write('a', 'b');
    await bench.operator.finish();
    expect(bench.committed).toEqual([
      { identity: expect.objectContaining({ checkpointId: 0, sequence: 0 }), payload: ['a', 'b'] },
    ]);
  });

  test('publishes when its writer says so, and keeps what it cannot commit until it can', async () => {
    let tries = 0;
    const bench = new SinkBench({
      ...off,
      commit: async () => [tries++ < 2 ? { kind: 'retry', error: new Error('busy') } : { kind: 'committed' }],
    });
    await bench.operator.open();
    const committed = bench.context?.commitNow([['a']]);
    await bench.clock.advance(1000);
    await committed;
    expect(payloads(bench.committed)).toEqual([['a']]);
  });

  test('publishes what it has when the job is cancelled, although everything else is told to stop', async () => {
    const bench = new SinkBench(off);
    await bench.operator.open();
    bench.write('a');
    bench.abort.abort(new Error('cancelled'));
    await bench.operator.close('cancelled');
    expect(payloads(bench.committed)).toEqual([['a']]);
    expect(bench.log.slice(-2)).toEqual(['close writer', 'close committer']);
  });

  test('says so when that cannot be published, does not try for ever, and is closed all the same', async () => {
    const bench = new SinkBench({ ...off, commit: async () => [{ kind: 'retry', error: new Error('busy') }] });
    await bench.operator.open();
    bench.write('a');
    bench.abort.abort(new Error('cancelled'));
    await expect(bench.operator.close('cancelled')).rejects.toMatchObject({
      code: 'COMMIT_FAILED',
      message: expect.stringContaining('busy'),
    });
    expect(bench.log.slice(-2)).toEqual(['close writer', 'close committer']);
  });

  test('publishes nothing of an attempt that failed', async () => {
    const bench = new SinkBench(off);
    await bench.operator.open();
    bench.write('a');
    await bench.operator.close('failed');
    expect(bench.committed).toEqual([]);
  });
});

test.each(['finished', 'failed', 'cancelled'] as const)(
  'with checkpoints, output that no checkpoint covers is abandoned when the job has %s',
  async (end) => {
    const bench = new SinkBench();
    await bench.operator.open();
    bench.write('a');
    await bench.operator.finish();
    await bench.operator.close(end);
    expect(bench.committed).toEqual([]);
    expect(bench.log).toEqual(['open', 'close writer', 'close committer']);
  },
);

describe('a sink that fails', () => {
  const failing = (): never => {
    throw new Error('disk full');
  };
  const named = {
    code: 'SINK_FAILED',
    message: expect.stringMatching(/Sink out of job test \(subtask 0\).*disk full/),
  };

  test('while it is prepared for all subtasks is named', async () => {
    const sink: Sink<unknown> = { grade: 'at-least-once', prepare: failing, open: failing };
    await expect(prepareSink(sink, operatorContext({ uid: 'out' }), sinkServices())).rejects.toMatchObject(named);
  });

  test('when it is opened is named', async () => {
    await expect(new SinkBench({ sink: { open: failing } }).operator.open()).rejects.toMatchObject(named);
  });

  test('when its committer is made is named, and its writer is not opened', async () => {
    const bench = new SinkBench({ sink: { committer: failing } });
    await expect(bench.operator.open()).rejects.toMatchObject(named);
    expect(bench.log).toEqual([]);
    await bench.operator.close('failed');
  });

  test.each([
    ['throws', failing],
    ['rejects', () => Promise.reject(new Error('disk full'))],
  ])('when a write %s is named', async (_how, write) => {
    const waited: Promise<void>[] = [];
    const sink: Sink<string> = { grade: 'at-least-once', open: () => ({ write, close: () => undefined }) };
    const flow = { isOpen: () => true, suspend: () => undefined, waitFor: (wait: Promise<void>) => waited.push(wait) };
    const operator = new SinkOperator(sink, operatorContext({ uid: 'out', flow }), sinkServices());
    const errors: unknown[] = [];
    const input = new Subject<StreamElement<string>>();
    operator.connect(input).subscribe({ error: (error) => errors.push(error) });
    await operator.open();
    input.next(batch(['a']));
    for (const outcome of await Promise.allSettled(waited)) errors.push((outcome as PromiseRejectedResult).reason);
    expect(errors).toEqual([expect.objectContaining(named)]);
  });

  test.each(['flush', 'prepareCommit', 'state'] as const)('in %s is named', async (call) => {
    const bench = new SinkBench({ writer: { [call]: failing } });
    await bench.operator.open();
    await expect(bench.checkpoint(1)).rejects.toMatchObject(named);
  });

  test('when its writer is closed is named, and its committer is closed all the same', async () => {
    const bench = new SinkBench({ writer: { close: failing } });
    await bench.operator.open();
    await expect(bench.operator.close('finished')).rejects.toMatchObject(named);
    expect(bench.log).toEqual(['open', 'close committer']);
  });
});

test('a sink is not closed while a commit is under way', async () => {
  const outcome = deferred<readonly CommitOutcome[]>();
  const bench = new SinkBench({ commit: () => outcome.promise });
  await bench.operator.open();
  bench.write('a');
  await bench.checkpoint(1);
  const told = bench.operator.completed(1);
  const closed = bench.operator.close('finished');
  await bench.clock.settle();
  expect(bench.log).toEqual(['open']);
  outcome.resolve([{ kind: 'committed' }]);
  await Promise.all([told, closed]);
  expect(bench.log).toEqual(['open', 'commit 1', 'close writer', 'close committer']);
});

test('a writer gets no empty batches', async () => {
  const sizes: number[] = [];
  const bench = new SinkBench({ writer: { write: (records) => void sizes.push(records.length) } });
  await bench.operator.open();
  bench.write();
  bench.write('a');
  expect(sizes).toEqual([1]);
});
