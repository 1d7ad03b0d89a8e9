import { fc, test as property } from '@fast-check/vitest';
import { Subject, type Observable } from 'rxjs';
import { describe, expect, test } from 'vitest';
import { batch, type StreamElement } from '../../src/element/element.js';
import { WeirError } from '../../src/errors.js';
import type { Operator } from '../../src/operator/operator.js';
import { operatorFailure } from '../../src/operator/user-code.js';
import { inOrder } from '../../src/stage/in-order.js';
import { Stage } from '../../src/stage/stage.js';
import { StageFlow } from '../../src/stage/stage-flow.js';
import { deferred } from '../support/deferred.js';

class StageUnderTest {
  readonly log: string[] = [];
  readonly out: StreamElement<unknown>[] = [];
  readonly failures: unknown[] = [];
  readonly flow = new StageFlow(
    () => true,
    () => undefined,
  );
  readonly stage: Stage;

  /** Operators named a, b, c from the head; each logs what it is told, unless it brings a method of its own. */
  constructor(...operators: readonly Partial<Operator>[]) {
    this.stage = new Stage({
      operators: operators.map((own, i) => {
        const uid = 'abc'.charAt(i);
        return { uid, operator: { ...this.#logging(uid), ...own } };
      }),
      inputs: 1,
      output: (element) => this.out.push(element),
      failed: (error) => this.failures.push(error),
      drained: () => this.flow.drained(),
      failureOf: (uid, error) => operatorFailure({ uid, job: 'test', subtask: 0 }, error),
    });
  }

  #logging(uid: string): Operator {
    return {
      connect: (source) => source,
      restore: () => void this.log.push(`restore ${uid}`),
      open: () => void this.log.push(`open ${uid}`),
      prepare: () => void this.log.push(`prepare ${uid}`),
      capture: () => {
        this.log.push(`capture ${uid}`);
        return undefined;
      },
      completed: () => void this.log.push(`completed ${uid}`),
      aborted: () => void this.log.push(`aborted ${uid}`),
      finish: () => void this.log.push(`finish ${uid}`),
      close: () => void this.log.push(`close ${uid}`),
    };
  }
}
const thrower = (text: string) => (): never => {
  throw new Error(text);
};

describe('a stage', () => {
  test('opens, captures, notifies and closes from tail to head; prepares and finishes from head to tail', async () => {
    const { stage, log } = new StageUnderTest({}, {}, {});
    await stage.restoreAndOpen((uid) => (uid === 'b' ? ({} as never) : undefined));
    expect(log.splice(0)).toEqual(['open c', 'restore b', 'open b', 'open a']);
    expect(stage.prepare(1)).toBeUndefined();
    expect(log.splice(0)).toEqual(['prepare a', 'prepare b', 'prepare c']);
    stage.capture(1);
    expect(log.splice(0)).toEqual(['capture c', 'capture b', 'capture a']);
    await stage.completed(1);
    stage.aborted(2);
    expect(log.splice(0)).toEqual(['completed c', 'completed b', 'completed a', 'aborted c', 'aborted b', 'aborted a']);
    expect(stage.finish()).toBeUndefined();
    await stage.close('finished');
    expect(log).toEqual(['finish a', 'finish b', 'finish c', 'close c', 'close b', 'close a']);
  });

  test('waits for an operator that prepares asynchronously before it turns to the next', async () => {
    const a = deferred();
    const { stage, log } = new StageUnderTest({ prepare: () => a.promise }, {});
    const prepared = stage.prepare(1);
    expect(log).toEqual([]);
    a.resolve();
    await prepared;
    expect(log).toEqual(['prepare b']);
  });

  test('lets what an operator emits while it prepares go through the others before they prepare', async () => {
    const write = deferred();
    const output = new Subject<StreamElement<unknown>>();
    const sut: StageUnderTest = new StageUnderTest(
      {
        connect: (): Observable<StreamElement<unknown>> => output,
        prepare: () => {
          output.next(batch(['held back']));
        },
      },
      {
        connect: (source: Observable<StreamElement<unknown>>) => {
          source.subscribe(() => {
            sut.log.push('write begins');
            sut.flow.waitFor(write.promise.then(() => void sut.log.push('write ends')));
          });
          return new Subject<StreamElement<unknown>>();
        },
      },
    );
    const prepared = sut.stage.prepare(1);
    expect(sut.log).toEqual(['write begins']);
    write.resolve();
    await prepared;
    expect(sut.log).toEqual(['write begins', 'write ends', 'prepare b']);
  });

  test.each(['open', 'prepare', 'finish'] as const)(
    'says which operator failed to %s, and asks none after it',
    async (call) => {
      const { stage, log } = new StageUnderTest({}, { [call]: thrower('no') }, {});
      const run = async (): Promise<void> => {
        if (call === 'open') await stage.restoreAndOpen(() => undefined);
        else await (call === 'prepare' ? stage.prepare(1) : stage.finish());
      };
      await expect(run()).rejects.toMatchObject({
        code: 'OPERATOR_FAILED',
        message: expect.stringMatching(/Operator b .*no/),
      });
      expect(log).toEqual([call === 'open' ? 'open c' : `${call} a`]);
    },
  );

  test.each([
    ['completed', (stage: Stage) => stage.completed(1)],
    ['aborted', async (stage: Stage) => stage.aborted(1)],
    ['close', (stage: Stage) => stage.close('failed')],
  ] as const)(
    'tells every operator of %s, although some throw, and throws the first error then',
    async (call, tell) => {
      const { stage, log } = new StageUnderTest({ [call]: thrower('first') }, {}, { [call]: thrower('third') });
      await expect(tell(stage)).rejects.toThrow(/Operator c .*third/);
      expect(log).toEqual([`${call} b`]);
    },
  );

  test('closes operators although ending the stream throws', async () => {
    const { stage, log } = new StageUnderTest({
      connect: () => ({ subscribe: () => ({ unsubscribe: thrower('teardown') }) }) as never,
    });
    await expect(stage.close('failed')).rejects.toThrow('teardown');
    expect(log).toEqual(['close a']);
  });

  test('releases what it has captured when an operator cannot be captured', () => {
    let released = 0;
    const { stage } = new StageUnderTest(
      { capture: thrower('no') },
      { capture: () => ({ keyed: { write: () => Promise.resolve(), release: () => released++ } }) },
    );
    expect(() => stage.capture(1)).toThrow(/Operator a .*no/);
    expect(released).toBe(1);
  });

  test('fails, instead of throwing at whoever feeds it, when its output cannot be taken', () => {
    const failures: unknown[] = [];
    const stage = new Stage({
      operators: [{ uid: 'a', operator: { connect: (source) => source } }],
      inputs: 1,
      output: thrower('no such channel'),
      failed: (error) => failures.push(error),
      drained: () => undefined,
      failureOf: (uid, error) => operatorFailure({ uid, job: 'test', subtask: 0 }, error),
    });
    stage.accept(0, batch([1]));
    expect(failures).toEqual([expect.any(WeirError)]);
  });

  test('has at least one operator', () => {
    expect(() => new StageUnderTest()).toThrow(RangeError);
  });
});

property.prop([fc.array(fc.boolean(), { maxLength: 10 })])(
  'steps in order wait for those before them, and settle at once if none of them waits',
  async (isAsync) => {
    const done: number[] = [];
    const result = inOrder([...isAsync.entries()], ([i, waits]) => {
      if (!waits) {
        done.push(i);
        return undefined;
      }
      return Promise.resolve().then(() => void done.push(i));
    });
    expect(result === undefined).toBe(!isAsync.includes(true));
    await result;
    expect(done).toEqual([...isAsync.keys()]);
  },
);
