import { Subject } from 'rxjs';
import { describe, expect, test } from 'vitest';
import { batch, type StreamElement } from '../../src/element/element.js';
import { coProcessOperator } from '../../src/operator/co-process.js';
import { keyedProcessOperator } from '../../src/operator/keyed-process.js';
import type { Operator, OperatorContext } from '../../src/operator/operator.js';
import { scanOperator } from '../../src/operator/scan.js';
import { valueState } from '../../src/state/descriptors.js';
import { operatorContext } from '../support/operator-context.js';
import { valueStateBackend } from '../support/value-state-backend.js';

function stateful(changes: Partial<OperatorContext> = {}): OperatorContext {
  const context: OperatorContext = operatorContext({
    uid: 'keyed',
    openKeyedState: async (states) =>
      valueStateBackend.open({ ...context, operator: context.uid, states, keyGroups: context.keyGroups }),
    ...changes,
  });
  return context;
}

async function run(
  operator: Operator,
  ...inputs: readonly (readonly StreamElement<unknown>[])[]
): Promise<{ records: unknown[]; out: StreamElement<unknown>[]; errors: unknown[] }> {
  const heads = inputs.map(() => new Subject<StreamElement<unknown>>());
  const out: StreamElement<unknown>[] = [];
  const errors: unknown[] = [];
  (operator as Operator<unknown>)
    .connect(...heads)
    .subscribe({ next: (e) => out.push(e), error: (e) => errors.push(e) });
  await operator.open?.();
  for (const [i, elements] of inputs.entries()) for (const element of elements) heads[i]?.next(element);
  return { out, errors, records: out.flatMap((element) => (element.kind === 'batch' ? element.records : [])) };
}

describe('a keyed operator', () => {
  const counting = {
    keyOf: (n: number) => n % 2,
    state: { count: valueState({ initial: () => 0 }) },
    onRecord: (
      n: number,
      {
        key,
        state,
        timestamp,
      }: { key: number; state: { count: { value(): number; update(n: number): void } }; timestamp: number | undefined },
      emit: (text: string) => void,
    ) => {
      state.count.update(state.count.value() + 1);
      emit(
        `${String(key)}: ${String(n)} is number ${String(state.count.value())}${timestamp === undefined ? '' : ` at ${String(timestamp)}`}`,
      );
    },
  };

  test('has the state of the key of each record, and its time', async () => {
    const { records, out } = await run(keyedProcessOperator(stateful(), counting), [
      batch([1, 2, 3]),
      { kind: 'batch', records: [4], timestamps: [40] },
    ]);
    expect(records).toEqual(['1: 1 is number 1', '0: 2 is number 1', '1: 3 is number 2', '0: 4 is number 2 at 40']);
    expect(out.at(-1)).toMatchObject({ timestamps: [40] });
  });

  test('is told where it runs before its first record, and closed after its state was used for the last time', async () => {
    const log: string[] = [];
    const operator = keyedProcessOperator(stateful({ subtask: 2, parallelism: 3, attempt: 4 }), {
      ...counting,
      open: ({ subtask, parallelism, attempt }) =>
        void log.push(`open ${String(subtask)}/${String(parallelism)} ${String(attempt)}`),
      onRecord: () => void log.push('record'),
      close: () => void log.push('close'),
    });
    await run(operator, [batch([1])]);
    await operator.close?.('finished');
    expect(log).toEqual(['open 2/3 4', 'record', 'close']);
  });

  test('closes its state although its close hook throws', async () => {
    let closed = 0;
    const context = stateful();
    const openKeyedState: OperatorContext['openKeyedState'] = async (states) => {
      const store = await context.openKeyedState(states);
      store.close = () => {
        closed++;
      };
      return store;
    };
    const operator = keyedProcessOperator(
      { ...context, openKeyedState },
      {
        ...counting,
        close: () => {
          throw new Error('boom');
        },
      },
    );
    await run(operator, []);
    await expect(operator.close?.('failed')).rejects.toThrow('boom');
    expect(closed).toBe(1);
  });

  test('needs no backend, and stores nothing, if it declares no state', async () => {
    const operator = keyedProcessOperator(operatorContext(), {
      keyOf: (n: number) => n,
      state: {},
      onRecord: (n, { key }, emit: (n: number) => void) => {
        emit(n + key);
      },
    });
    expect((await run(operator, [batch([1, 2])])).records).toEqual([2, 4]);
    expect(operator.capture?.(1, 'full')).toBeUndefined();
    await operator.close?.('finished');
  });

  test.each([
    ['a handler that throws', { onRecord: failing }],
    ['a key function that throws', { keyOf: failing }],
  ])('fails under its name: %s', async (_what, change) => {
    const { errors } = await run(keyedProcessOperator(stateful(), { ...counting, ...change }), [batch([1])]);
    expect(errors).toEqual([
      expect.objectContaining({ code: 'OPERATOR_FAILED', message: expect.stringMatching(/keyed.*boom/) }),
    ]);
  });

  test('fails the attempt where something is emitted after the handler has returned, and emits nothing of it', async () => {
    const letters: (() => void)[] = [];
    let kept: ((value: unknown) => void) | undefined;
    const context = stateful({ runInMailbox: (letter) => letters.push(letter) });
    const operator = keyedProcessOperator(context, {
      ...counting,
      onRecord: (_record, _context, emit) => {
        kept = emit;
      },
    });
    const { out } = await run(operator, [batch([1])]);
    kept?.('late');
    expect(out).toEqual([]);
    expect(() => {
      for (const letter of letters) letter();
    }).toThrow(/PROTOCOL_VIOLATION.*keyed.*emit after its handler/);
  });

  test('ends at a handler that returns a promise, also one that is rejected', async () => {
    for (const returned of [Promise.resolve(), Promise.reject(new Error('unheard'))]) {
      const handler = (): undefined => returned as unknown as undefined;
      const { errors } = await run(keyedProcessOperator(stateful(), { ...counting, onRecord: handler }), [batch([1])]);
      expect(errors).toEqual([
        expect.objectContaining({
          code: 'OPERATOR_FAILED',
          recoverable: false,
          message: expect.stringMatching(/Operator keyed of job test: its handler returned a promise/),
        }),
      ]);
    }
  });
});

test('scan refuses an async accumulate', async () => {
  const operator = scanOperator<number, number, number>(stateful(), {
    keyOf: (n) => n,
    accumulate: () => Promise.resolve(1) as unknown as number,
    seed: () => 0,
  });
  const { errors, out } = await run(operator, [batch([1])]);
  expect(out).toEqual([]);
  expect(errors).toEqual([
    expect.objectContaining({
      code: 'OPERATOR_FAILED',
      message: expect.stringMatching(/the function given to scan returned a promise.*in the source or in the sink/),
    }),
  ]);
});

test('scan emits the accumulator of the record’s key for every record, and begins with a fresh seed for each key', async () => {
  let seeds = 0;
  const operator = scanOperator<number, { sum: number; key: number }, number>(stateful(), {
    keyOf: (n) => n % 2,
    accumulate: ({ sum }, n, key) => ({ sum: sum + n, key }),
    seed: () => ({ sum: 0, key: seeds++ }),
  });
  expect((await run(operator, [batch([1, 2, 3, 4])])).records).toEqual([
    { sum: 1, key: 1 },
    { sum: 2, key: 0 },
    { sum: 4, key: 1 },
    { sum: 6, key: 0 },
  ]);
});

test('two inputs share the state of a key', async () => {
  const operator = coProcessOperator(stateful(), {
    firstKeyOf: (order: { id: string; price: number }) => order.id,
    secondKeyOf: (payment: { of: string }) => payment.of,
    state: { price: valueState<number>() },
    onFirst: ({ price }, { state }) => {
      state.price.update(price);
    },
    onSecond: (_payment, { key, state }, emit: (text: string) => void) => {
      emit(`${key} costs ${String(state.price.value())}`);
    },
  });
  const { records } = await run(
    operator,
    [batch([{ id: 'a', price: 3 }])],
    [batch([{ of: 'a' }, { of: 'b' }]), { kind: 'watermark', time: 1 }],
  );
  expect(records).toEqual(['a costs 3', 'b costs undefined']);
});

test('two inputs that get the very same batch key it each in its own way', async () => {
  const operator = coProcessOperator(stateful(), {
    firstKeyOf: (n: number) => n,
    secondKeyOf: (n: number) => -n,
    state: {},
    onFirst: (n, { key }, emit: (text: string) => void) => {
      emit(`first ${String(n)}: ${String(key)}`);
    },
    onSecond: (n, { key }, emit: (text: string) => void) => {
      emit(`second ${String(n)}: ${String(key)}`);
    },
  });
  const shared = batch([7]);
  expect((await run(operator, [shared], [shared])).records).toEqual(['first 7: 7', 'second 7: -7']);
});

function failing(): never {
  throw new Error('boom');
}
