import { filter } from 'rxjs';
import { describe, expect, test } from 'vitest';
import type { ControlElement, RecordBatch } from '../../src/element/element.js';
import type { Operator } from '../../src/operator/operator.js';
import { RunningStage } from '../../src/stage/running-stage.js';
import { deferred } from '../support/deferred.js';
import { TickingClock } from '../support/ticking-clock.js';

/** A running stage of one operator without a subtask around it: its input is a list of records. */
class Bench {
  readonly clock = new TickingClock();
  readonly abort = new AbortController();
  readonly failures: unknown[] = [];
  readonly sent: unknown[] = [];
  readonly input: unknown[] = [];
  readonly output = {
    hasDemand: true,
    records: 0,
    emit: ({ records }: RecordBatch<unknown>): void => {
      this.output.records += records.length;
      this.sent.push(...records);
    },
    broadcast: ({ kind }: ControlElement): void => {
      this.sent.push(kind);
    },
  };
  wakes = 0;
  readonly stage = new RunningStage({
    clock: this.clock,
    signal: this.abort.signal,
    output: this.output,
    take: (max) => {
      const records = this.input.splice(0, max);
      if (records.length > 0) this.stage.accept(0, { kind: 'batch', records });
      return records.length > 0;
    },
    wake: () => this.wakes++,
    onSourceEnded: () => undefined,
    onFailed: (error) => this.failures.push(error),
  });

  async started(operator: Partial<Operator> = {}): Promise<this> {
    const passing: Operator = { connect: (source) => source.pipe(filter(() => true)), ...operator };
    await this.stage.open({
      operators: [{ uid: 'step', operator: passing }],
      inputs: 1,
      source: undefined,
      restored: () => undefined,
      failureOf: (_uid, error) => error,
    });
    this.stage.start();
    return this;
  }
}

describe('a running stage', () => {
  test('moves chunks of its input for as long as there is any', async () => {
    const { stage, input, sent } = await new Bench().started();
    input.push(...Array.from({ length: 200 }, (_, n) => n));
    while (stage.advance());
    expect(sent).toEqual(Array.from({ length: 200 }, (_, n) => n));
  });

  test('lets what is due and records go in turn', async () => {
    const bench = await new Bench().started();
    const { stage, clock, input, sent } = bench;
    stage.after(10, () => sent.push('due'));
    input.push(1);
    await clock.advance(10);
    expect([stage.advance(), stage.advance(), stage.advance()]).toEqual([true, true, false]);
    expect(sent).toEqual(['due', 1]);
  });

  test('goes on from a prepare that takes its time only when its mailbox is read', async () => {
    const prepared = deferred();
    const { stage, sent } = await new Bench().started({ prepare: () => prepared.promise });
    stage.prepare(1, undefined, () => sent.push('next'));
    expect([stage.isHeld, sent]).toEqual([true, []]);
    prepared.resolve();
    await stage.settled();
    expect([stage.isHeld, stage.isQuiet, sent]).toEqual([false, false, []]);
    stage.readMailbox();
    expect([stage.isQuiet, sent]).toEqual([true, ['next']]);
  });

  test('sends without demand while a barrier that overtakes waits, and not beyond', async () => {
    const { stage, output } = await new Bench().started();
    output.hasDemand = false;
    expect(stage.flow.isOpen()).toBe(false);
    stage.overdraw(true);
    expect([stage.maySend, stage.flow.isOpen(), stage.flow.isOverdrawn]).toEqual([true, true, true]);
    stage.overdraw(false);
    expect(stage.flow.isOpen()).toBe(false);
  });

  test('tells of no failure, runs no action and no timer once it is stopped', async () => {
    const { stage, clock, failures, sent } = await new Bench().started();
    stage.after(10, () => sent.push('due'));
    stage.stop();
    stage.post(() => sent.push('posted'));
    stage.fail(new Error('too late'));
    await clock.advance(10);
    stage.readMailbox();
    expect([stage.advance(), sent, failures]).toEqual([false, [], []]);
    await stage.close('cancelled');
  });
});
