import { describe, expect, test } from 'vitest';
import type { OperatorSnapshot } from '../../src/contracts/snapshot.js';
import { batch } from '../../src/element/element.js';
import { isWeirError } from '../../src/errors.js';
import { keyedProcessOperator } from '../../src/operator/keyed-process.js';
import type { Operator, OperatorContext } from '../../src/operator/operator.js';
import { subtaskProcessOperator } from '../../src/operator/subtask-process.js';
import { defaultSerializer } from '../../src/state/default-serializer.js';
import {
  aggregatingState,
  listState,
  mapState,
  reducingState,
  valueState,
  type StateOptions,
  type States,
} from '../../src/state/descriptors.js';
import { droppedState } from '../../src/state/dropped.js';
import {
  broadcastState,
  operatorListState,
  unionListState,
  type OperatorStates,
} from '../../src/state/operator-state-descriptors.js';
import { OperatorBench } from '../support/operator-bench.js';

type Make = (context: OperatorContext) => Operator;
type States_ = Readonly<Record<string, unknown>>;
interface Kind {
  readonly of: 'key' | 'subtask';
  declare(options: StateOptions<string>): unknown;
  /** Puts one value in, and gets it out again. */
  put(handle: never, value: string): void;
  get(handle: never): unknown;
}

interface Values {
  add(value: string): void;
  values(): Iterable<string>;
}
interface Entries {
  set(key: string, value: string): void;
  get(key: string): string | undefined;
}
interface Folded {
  add(value: string): void;
  value(): string | undefined;
}
const lists = {
  put: (list: Values, value: string) => list.add(value),
  get: (list: Values) => [...list.values()][0],
};
const maps = {
  put: (map: Entries, value: string) => map.set('k', value),
  get: (map: Entries) => map.get('k'),
};
const folded = { put: (state: Folded, value: string) => state.add(value), get: (state: Folded) => state.value() };

const KINDS: Readonly<Record<string, Kind>> = {
  value: {
    of: 'key',
    declare: (options) => valueState(options),
    put: (state: { update(value: string): void }, value) => state.update(value),
    get: (state: { value(): string | undefined }) => state.value(),
  },
  list: { of: 'key', declare: (options) => listState(options), ...lists },
  map: { of: 'key', declare: (options) => mapState(options), ...maps },
  reducing: { of: 'key', declare: (options) => reducingState({ ...options, reduce: (a, b) => a + b }), ...folded },
  aggregating: {
    of: 'key',
    declare: (options) =>
      aggregatingState({
        ...options,
        create: () => '',
        add: (all: string, one: string) => all + one,
        result: (r) => r,
      }),
    ...folded,
  },
  'operator list': { of: 'subtask', declare: (options) => operatorListState(options), ...lists },
  'union list': { of: 'subtask', declare: (options) => unionListState(options), ...lists },
  broadcast: { of: 'subtask', declare: (options) => broadcastState(options), ...maps },
};

/** Hands the states of one key, or of the subtask, to `work` for each record. */
function program(of: Kind['of'], state: States_, work: (states: Readonly<Record<string, never>>) => unknown): Make {
  return of === 'key'
    ? (context) =>
        keyedProcessOperator<string, string, States, unknown>(context, {
          keyOf: () => 'key',
          state: state as States,
          onRecord: (_record, { state: states }, emit) => emit(work(states as never)),
        })
    : (context) =>
        subtaskProcessOperator<string, OperatorStates, unknown>(context, {
          state: state as OperatorStates,
          onRecord: (_record, { state: states }, emit) => emit(work(states as never)),
        });
}

async function stored(of: Kind['of'], kind: Kind, state: States_, name = 'it'): Promise<readonly OperatorSnapshot[]> {
  const bench = await OperatorBench.open(program(of, state, (states) => kind.put(states[name] as never, 'v')));
  bench.send(batch(['a record']));
  return bench.snapshot();
}

async function restored(
  kind: Kind,
  state: States_,
  restore: readonly OperatorSnapshot[],
  name = 'it',
): Promise<{ readonly value: unknown; readonly snapshot: readonly OperatorSnapshot[] }> {
  const bench = await OperatorBench.open(
    program(kind.of, state, (states) => kind.get(states[name] as never)),
    { restore },
  );
  bench.send(batch(['a record']));
  return { value: bench.records[0], snapshot: await bench.snapshot() };
}

async function refusal(attempt: Promise<unknown>): Promise<string> {
  const error: unknown = await attempt.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!isWeirError(error)) throw new Error(`not refused: ${String(error)}`);
  expect(error.recoverable).toBe(false);
  return error.message;
}

const appends = (text: string) => (value: string) => `${value}${text}`;
const TO_1 = { 1: appends(' 1>2') };
const TO_3 = { 1: appends(' 1>2'), 2: appends(' 2>3') };

describe.each(Object.entries(KINDS))('%s state of a changed program', (_name, kind) => {
  const { of } = kind;
  const of1 = (): Promise<readonly OperatorSnapshot[]> => stored(of, kind, { it: kind.declare({}) });
  const ofVersion = (version: number): Promise<readonly OperatorSnapshot[]> =>
    stored(of, kind, { it: kind.declare({ version }) });

  test('is restored as it is where nothing has changed', async () => {
    const { value } = await restored(kind, { it: kind.declare({ version: 2 }) }, await ofVersion(2));
    expect(value).toBe('v');
  });

  test('is migrated over one step and over several, and is of the new version then', async () => {
    const it = kind.declare({ version: 3, migrate: TO_3 });
    expect((await restored(kind, { it }, await ofVersion(2))).value).toBe('v 2>3');
    const { value, snapshot } = await restored(kind, { it }, await of1());
    expect(value).toBe('v 1>2 2>3');
    expect((await restored(kind, { it }, snapshot)).value).toBe('v 1>2 2>3');
  });

  test('is refused where a step is missing, naming operator, state and both versions', async () => {
    const it = kind.declare({ version: 3, migrate: { 2: TO_3[2] } });
    expect(await refusal(restored(kind, { it }, await of1()))).toMatch(
      /^STATE_VERSION_MISMATCH: (operator )?state 'it' of operator 'operator' in chk-1 was stored in version 1 and is declared in version 3.*from version 1 to 2/,
    );
  });

  test('is refused where it is newer than what is declared', async () => {
    expect(await refusal(restored(kind, { it: kind.declare({}) }, await ofVersion(2)))).toMatch(
      /^STATE_VERSION_MISMATCH: .*stored in version 2, which is newer than the declared version 1/,
    );
  });

  test.each([
    ['throws', () => JSON.parse('{') as unknown, /JSON/],
    ['gives a promise', () => Promise.resolve(''), /it gave a promise/],
  ])('is refused where a step %s, which is no damage of the checkpoint', async (_what, step, message) => {
    const it = kind.declare({ version: 2, migrate: { 1: step } });
    const text = await refusal(restored(kind, { it }, await of1()));
    expect(text).toMatch(/^STATE_MIGRATION_FAILED: The step of state 'it' of operator 'operator' from version 1 to 2/);
    expect(text).toMatch(message);
  });

  test('is restored under a new name, and stored under that', async () => {
    const now = { now: kind.declare({ renamedFrom: ['before', 'it'], version: 2, migrate: TO_1 }) };
    const { value, snapshot } = await restored(kind, now, await of1(), 'now');
    expect(value).toBe('v 1>2');
    const names = snapshot.flatMap(({ keyed, operator }) => [...keyed.flatMap(({ states }) => states), ...operator]);
    expect(names.map(({ name }) => name)).toEqual(['now']);
    expect((await restored(kind, { now: kind.declare({ version: 2 }) }, snapshot, 'now')).value).toBe('v 1>2');
  });

  test('is refused where it was removed, and left behind where it was dropped', async () => {
    const other = kind.declare({});
    expect(await refusal(restored(kind, { other }, await of1(), 'other'))).toMatch(
      /^CHECKPOINT_INCOMPATIBLE: .*state 'it' of operator 'operator'.*not declare any more.*droppedState/,
    );
    const { value, snapshot } = await restored(kind, { other, it: droppedState() }, await of1(), 'other');
    expect(value).toBeUndefined();
    expect(JSON.stringify(snapshot)).not.toContain('"it"');
  });

  test('is left behind where it was the only one', async () => {
    await restored(kind, { it: droppedState() }, await of1());
    expect(await refusal(restored(kind, {}, await of1()))).toMatch(/^CHECKPOINT_INCOMPATIBLE/);
  });

  test('starts empty where it was added', async () => {
    const { value } = await restored(kind, { it: kind.declare({}), more: kind.declare({}) }, await of1(), 'more');
    expect(value).toBeUndefined();
  });

  test('is refused where two stored states would become it', async () => {
    const both = { it: kind.declare({}), old: kind.declare({}) };
    const bench = await OperatorBench.open(
      program(of, both, (states) => Object.values(states).map((state) => kind.put(state, 'v'))),
    );
    bench.send(batch(['a record']));
    const it = kind.declare({ renamedFrom: 'old' });
    expect(await refusal(restored(kind, { it }, await bench.snapshot()))).toMatch(/both would become state 'it'/);
  });

  test('is refused where its kind has changed', async () => {
    const others = Object.values(KINDS).filter((other) => other.of === of && other !== kind);
    for (const other of others) {
      expect(await refusal(restored(other, { it: other.declare({}) }, await of1()))).toMatch(
        /^CHECKPOINT_INCOMPATIBLE: State 'it' of operator 'operator' in chk-1 was stored as \w+ state and is declared as/,
      );
    }
  });

  test('is refused where it belonged to keys and now to a subtask, or the other way round', async () => {
    const other = of === 'key' ? KINDS['operator list'] : KINDS['list'];
    expect(await refusal(restored(other as Kind, { more: other?.declare({}) }, await of1(), 'more'))).toMatch(
      /^CHECKPOINT_INCOMPATIBLE: .*state 'it'.*not declare any more/,
    );
  });

  test('is refused where a value, after all steps, violates the schema, saying where', async () => {
    const it = kind.declare({ schema: { type: 'string', maxLength: 3 } });
    expect((await restored(kind, { it }, await of1())).value).toBe('v');
    const migrated = kind.declare({
      version: 2,
      migrate: { 1: (value: string) => ({ items: [{ name: 1, value }] }) },
      schema: { properties: { items: { items: { properties: { name: { type: 'string' } } } } } },
    });
    expect(await refusal(restored(kind, { it: migrated }, await of1()))).toMatch(
      /^STATE_SCHEMA_VIOLATED: A restored value of state 'it' of operator 'operator'.*value\.items\[0\]\.name must be string/,
    );
  });

  test('has a schema that is valid, which shows at the first start', async () => {
    const it = kind.declare({ schema: { type: 'text' } });
    const start = OperatorBench.open(program(of, { it }, () => undefined));
    expect(await refusal(start)).toMatch(
      /^CONFIG_INVALID: The schema of state 'it' of operator 'operator' is not valid/,
    );
  });
});

describe('a declaration', () => {
  test.each([
    [{ version: 0 }, /whole number from 1, not 0/],
    [{ version: 1.5 }, /not 1.5/],
    [{ migrate: { 1: String } }, /version 1 has a migration from '1', which leads nowhere/],
    [{ version: 2, migrate: { x: String } as never }, /migration from 'x'/],
    [
      { serializer: { ...defaultSerializer, id: 'mine#2' } as never },
      /'mine#2' cannot have an id that ends like a version/,
    ],
  ])('%j is refused where it makes no sense', (options, message) => {
    expect(() => valueState(options)).toThrow(message);
    expect(() => operatorListState(options)).toThrow(message);
  });

  test.each([
    ['another state', { it: valueState(), now: valueState({ renamedFrom: 'it' }) }],
    ['a dropped one', { it: droppedState(), now: valueState({ renamedFrom: 'it' }) }],
    ['what another was', { a: valueState({ renamedFrom: 'it' }), now: valueState({ renamedFrom: 'it' }) }],
  ])('cannot be renamed from %s', async (_what, state) => {
    const start = OperatorBench.open(program('key', state, () => undefined));
    await expect(start).rejects.toThrow(/state "now" cannot be renamed from "it"/);
  });

  test('may change the serializer together with the values', async () => {
    const kind = KINDS['value'] as Kind;
    const first = { id: 'mine', version: 1, encode: encodeText, decode: decodeText };
    const second = { ...first, version: 2, migrate: (from: never) => `${decodeText(from)} serializer` };
    const before = await stored('key', kind, { it: valueState({ serializer: first, version: 2 }) });
    const it = valueState({ serializer: second, version: 3, migrate: { 2: appends(' 2>3') } });
    expect((await restored(kind, { it }, before)).value).toBe('v serializer 2>3');
    expect(await refusal(restored(kind, { it: valueState({ version: 2 }) }, before))).toMatch(
      /^SERIALIZER_MISMATCH: state 'it' of operator 'operator' in chk-1 was stored by serializer 'mine' version 1/,
    );
  });
});

function encodeText(value: string, out: { text(value: string): void }): void {
  out.text(value);
}
function decodeText(from: { text(): string }): string {
  return from.text();
}
