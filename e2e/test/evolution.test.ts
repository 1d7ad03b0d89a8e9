import {
  createEnvironment,
  formatSavepointReport,
  type Environment,
  type SavepointReport,
  type SavepointVerdict,
} from '@weir/core';
import { SILENT, defaultSerializer, sleep, staticSplits, type Serializer, type Source } from '@weir/core/contracts';
import {
  aggregatingState,
  broadcastState,
  droppedState,
  keyBy,
  keyedProcess,
  listState,
  mapState,
  operatorListState,
  reducingState,
  subtaskProcess,
  unionListState,
  valueState,
  type Emit,
  type KeyType,
  type OperatorStates,
  type StateOptions,
  type States,
} from '@weir/core/operators';
import { CrashFileSystem, transactionalMemorySink } from '@weir/testkit';
import { lastValueFrom, Subject, take, toArray } from 'rxjs';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { pluginsOn } from './support/memory-disk.js';

vi.setConfig({ testTimeout: 30_000 });

const RECORDS = 20;

/** The programs declare what they like under these names, and use what they have declared. */
type Handles = Readonly<Record<'total' | 'recent' | 'days' | 'most' | 'mean' | 'waiting' | 'known' | 'rules', Handle>>;
interface Handle {
  update(value: number): void;
  add(value: number): void;
  set(key: string, value: number): void;
  value(): unknown;
  values(): Iterable<unknown>;
  entries(): Iterable<unknown>;
}

/** A program: what its operators keep, and what they do with it for each record. */
interface Program {
  readonly job?: string;
  readonly keyedUid?: string;
  readonly keyed?: States;
  readonly keyTypes?: readonly KeyType[];
  readonly onTimer?: boolean;
  readonly subtask?: OperatorStates;
  readonly parallelism?: number;
  readonly maxParallelism?: number;
  readonly sourceUid?: string;
  readonly allowNonRestoredState?: boolean;
  readonly allowNonRestoredPositionsAndOutput?: boolean;
  readonly serializer?: Serializer<never>;
  /** Gives what the state says, and changes it. */
  readonly onKey?: (states: Handles, n: number) => unknown;
  readonly onSubtask?: (states: Handles, n: number) => unknown;
}

const disk = new CrashFileSystem();
const sink = transactionalMemorySink<number>();
let savepoint: string;

function environmentOf(program: Program, records: number, seen = new Subject<unknown>()): Environment {
  const {
    parallelism,
    maxParallelism,
    sourceUid = 'in',
    keyedUid = 'keyed',
    keyed = KEYED,
    subtask = SUBTASK,
  } = program;
  const env = createEnvironment({ plugins: pluginsOn(disk), logger: SILENT, parallelism, maxParallelism });
  env.enableCheckpointing();
  env
    .from(waitingSource(records, program.serializer), { uid: sourceUid, parallelism: 1 })
    .pipe(
      keyBy((n) => n % 3, { types: program.keyTypes }),
      keyedProcess({
        uid: keyedUid,
        state: keyed,
        onRecord(n: number, { state }, emit: Emit<number>) {
          seen.next(program.onKey?.(state as never, n));
          emit(n);
        },
        ...(program.onTimer === true && { onTimer: () => undefined }),
      }),
      subtaskProcess({
        uid: 'subtask',
        state: subtask,
        onRecord(n: number, { state }, emit: Emit<number>) {
          seen.next(program.onSubtask?.(state as never, n));
          emit(n);
        },
      }),
    )
    .to(sink, { uid: 'out' });
  return env;
}

/** 0 up to before `records`; then it waits. */
function waitingSource(
  records: number,
  serializer: Serializer<never> | undefined,
): Source<number, 'replayable', { readonly id: string }, number> {
  return {
    grade: 'replayable',
    bounded: false,
    ...(serializer && { serializer }),
    enumerator: () => staticSplits([{ id: 'numbers' }]),
    async open(_split, start = 0, { clock, signal }) {
      let next = start;
      return {
        async poll() {
          if (next < records) return [next++];
          await sleep(clock, 5, signal).catch(() => undefined);
          return [];
        },
        position: () => next,
        close: async () => undefined,
      };
    },
  };
}

const KEYED = {
  total: valueState<number>(),
  recent: listState<number>(),
  days: mapState<string, number>(),
  most: reducingState<number>({ reduce: Math.max }),
  mean: aggregatingState({ create: () => [] as number[], add: (all, n: number) => [...all, n], result: (all) => all }),
};
const SUBTASK = {
  waiting: operatorListState<number>(),
  known: unionListState<number>(),
  rules: broadcastState<string, number>(),
};
const FIRST: Program = {
  onKey({ total, recent, days, most, mean }, n) {
    total.update(n);
    for (const each of [recent, most, mean]) each.add(n);
    days.set('mon', n);
  },
  onSubtask({ waiting, known, rules }, n) {
    if (n === 0) for (const each of [waiting, known]) each.add(n);
    rules.set('limit', n);
  },
};

beforeAll(async () => {
  const seen = new Subject<unknown>();
  const all = lastValueFrom(seen.pipe(take(2 * RECORDS)));
  const job = await environmentOf(FIRST, RECORDS, seen).start('evolving');
  await Promise.race([all, job.done]);
  savepoint = (await job.stopWithSavepoint({ dir: '/savepoints' })).pointer;
  expect(await job.done).toBe('stopped');
});

function check({ job = 'evolving', ...program }: Program): Promise<SavepointReport> {
  return environmentOf(program, RECORDS).checkSavepoint(job, savepoint, program);
}

/** What it gives for one more record, or why it does not start. */
async function startOf(program: Program): Promise<readonly unknown[] | Error> {
  const { job: name = 'evolving', allowNonRestoredState, allowNonRestoredPositionsAndOutput } = program;
  const seen = new Subject<unknown>();
  const two = lastValueFrom(seen.pipe(take(2), toArray()));
  try {
    const env = environmentOf(program, RECORDS + 1, seen);
    const job = await env.start(name, {
      restoreFrom: savepoint,
      allowNonRestoredState,
      allowNonRestoredPositionsAndOutput,
    });
    try {
      const outcome = await Promise.race([two, job.done]);
      return typeof outcome === 'string' ? new Error(`the job has ${outcome}`) : outcome;
    } finally {
      await job[Symbol.asyncDispose]();
    }
  } catch (error) {
    return error as Error;
  }
}

const version = (options: StateOptions<number>): States => ({ ...KEYED, total: valueState<number>(options) });
const step = (n: number): number => n * 10;
function without<S extends States>(states: S, name: keyof S): States {
  return Object.fromEntries(Object.entries(states).filter(([each]) => each !== name));
}
/** Of numbers, or of whatever a source has. */
const mine: Serializer<never> = { ...(defaultSerializer as Serializer<never>), id: 'mine' };
const twice = { 1: step, 2: step };

type Row = readonly [
  what: string,
  program: Program,
  expected: Readonly<Record<string, SavepointVerdict>>,
  problem?: string,
];

const ROWS: readonly Row[] = [
  ['nothing', {}, { 'keyed/total': 'restored', 'subtask/waiting': 'restored', 'in/splits': 'restored' }],
  ['a version with its step', { keyed: version({ version: 2, migrate: { 1: step } }) }, { 'keyed/total': 'migrated' }],
  ['two versions with their steps', { keyed: version({ version: 3, migrate: twice }) }, { 'keyed/total': 'migrated' }],
  ['a version without a step', { keyed: version({ version: 2 }) }, { 'keyed/total': 'incompatible' }],
  [
    'a version with a step missing in between',
    { keyed: version({ version: 3, migrate: { 2: step } }) },
    { 'keyed/total': 'incompatible' },
  ],
  [
    'the name of a state',
    { keyed: { ...without(KEYED, 'total'), sum: valueState({ renamedFrom: 'total' }) } },
    { 'keyed/sum': 'migrated' },
  ],
  [
    'a state that is not there any more',
    { keyed: without(KEYED, 'days') },
    { 'keyed/days': 'incompatible', 'keyed/total': 'restored' },
  ],
  ['a state that is given up', { keyed: { ...KEYED, days: droppedState() } }, { 'keyed/days': 'dropped' }],
  ['a state that is new', { keyed: { ...KEYED, more: listState() } }, { 'keyed/more': 'new' }],
  ['the kind of a state', { keyed: { ...KEYED, recent: mapState() } }, { 'keyed/recent': 'incompatible' }],
  [
    'reducing to value state',
    { keyed: { ...KEYED, most: valueState() } },
    { 'keyed/most': 'incompatible', 'keyed/mean': 'restored' },
  ],
  ['the serializer', { keyed: version({ serializer: mine }) }, { 'keyed/total': 'incompatible' }],
  [
    'two states that become one',
    { keyed: { ...without(KEYED, 'total'), most: reducingState({ reduce: Math.max, renamedFrom: 'total' }) } },
    { 'keyed/total': 'incompatible' },
  ],
  ['the type of its keys', { keyTypes: ['string'] }, { keyed: 'incompatible', 'keyed/total': 'restored' }],
  ['nothing but that it declares the type of its keys', { keyTypes: ['number', 'string'] }, { keyed: 'restored' }],
  ['timers that are new', { onTimer: true }, { 'keyed/total': 'restored' }],
  [
    'the version of operator state',
    { subtask: { ...SUBTASK, rules: broadcastState<string, number>({ version: 2, migrate: { 1: step } }) } },
    { 'subtask/rules': 'migrated' },
  ],
  [
    'the version of operator state without a step',
    { subtask: { ...SUBTASK, known: unionListState<number>({ version: 2 }) } },
    { 'subtask/known': 'incompatible' },
  ],
  [
    'how operator state is dealt out',
    { subtask: { ...SUBTASK, waiting: unionListState<number>() } },
    { 'subtask/waiting': 'incompatible' },
  ],
  [
    'the names of operator state, and one given up',
    {
      subtask: {
        held: operatorListState<number>({ renamedFrom: ['kept', 'waiting'] }),
        known: droppedState(),
        rules: SUBTASK.rules,
      },
    },
    { 'subtask/held': 'migrated', 'subtask/known': 'dropped', 'subtask/rules': 'restored' },
  ],
  [
    'operator state that is not there any more',
    { subtask: {} },
    { subtask: 'incompatible' },
    'CHECKPOINT_INCOMPATIBLE',
  ],
  ['the uid of an operator', { keyedUid: 'other' }, { keyed: 'incompatible', other: 'new' }, 'CHECKPOINT_INCOMPATIBLE'],
  [
    'the uid of an operator, where state may be left behind',
    { keyedUid: 'other', allowNonRestoredState: true },
    { keyed: 'dropped', other: 'new' },
  ],
  [
    'the uid of a source, where state may be left behind',
    { sourceUid: 'other', allowNonRestoredState: true },
    { in: 'incompatible', other: 'new' },
    'CHECKPOINT_INCOMPATIBLE',
  ],
  [
    'the uid of a source, where its positions may be left behind',
    { sourceUid: 'other', allowNonRestoredPositionsAndOutput: true },
    { in: 'dropped', other: 'new' },
  ],
  ['the parallelism', { parallelism: 3 }, { 'keyed/total': 'restored' }],
  ['the maximum parallelism', { maxParallelism: 64 }, { 'keyed/total': 'restored' }, 'CHECKPOINT_MAX_PARALLELISM'],
  ['the parallelism, beyond its maximum', { parallelism: 3, maxParallelism: 2 }, {}, 'GRAPH_INVALID_PARALLELISM'],
  ['the job', { job: 'another' }, { 'keyed/total': 'restored' }, 'CHECKPOINT_INCOMPATIBLE'],
  [
    'the serializer of a source',
    { serializer: mine },
    { 'in/splits': 'incompatible', 'in/enumerator': 'incompatible' },
  ],
];

describe('what is said of a savepoint before a start is what the start does, with another program that changes', () => {
  test.each(ROWS.map((row) => [row[0], row] as const))('%s', async (_what, [, program, expected, problem]) => {
    const report = await check(program).catch((error: unknown) => error as Error & { code: string });
    const failure = await startOf(program);
    if (report instanceof Error) {
      expect(report.code).toBe(problem);
      expect(failure).toMatchObject({ code: problem });
      return;
    }
    const verdicts = new Map(
      report.operators.flatMap(({ uid, verdict, states }) => [
        [uid, verdict] as const,
        ...states.map((state) => [`${uid}/${state.name}`, state.verdict] as const),
      ]),
    );
    expect(Object.fromEntries([...verdicts].filter(([name]) => name in expected))).toEqual(expected);
    expect(report.problems.map(({ code }) => code)).toEqual(problem === undefined ? [] : [problem]);
    const isIncompatible = Object.values(expected).includes('incompatible') || problem !== undefined;
    expect([report.fits, failure]).toEqual(isIncompatible ? [false, expect.any(Error)] : [true, expect.any(Array)]);
    if (problem !== undefined) expect(failure).toMatchObject({ code: problem });
    for (const { code } of report.operators.flatMap(({ states }) => states))
      if (code !== undefined && problem === undefined) expect(failure).toMatchObject({ code });
  });
});

test('values are led through all steps on their way into the state, whatever its kind, at another parallelism as well', async () => {
  const options = { version: 3, migrate: { 1: (n: number) => n * 10, 2: (n: number) => n + 1 } };
  const seen = await startOf({
    parallelism: 2,
    keyed: {
      total: valueState<number>(options),
      recent: listState<number>(options),
      days: mapState<string, number>(options),
      most: reducingState<number>({ reduce: Math.max, ...options }),
      mean: aggregatingState({
        create: () => [] as number[],
        add: (all, n: number) => [...all, n],
        result: (all) => all,
        version: 2,
        migrate: { 1: (all: number[]) => all.map(String) },
      }),
    },
    subtask: {
      waiting: operatorListState<number>(options),
      known: unionListState<number>(options),
      rules: broadcastState<string, number>(options),
    },
    onKey: ({ total, recent, days, most, mean }) => [
      total.value(),
      [...recent.values()],
      [...days.entries()],
      most.value(),
      mean.value(),
    ],
    onSubtask: ({ known, rules }) => [[...known.values()], [...rules.entries()]],
  });
  // 20 has the key 2, and before it came 2, 5, 8, 11, 14 and 17.
  const before = [2, 5, 8, 11, 14, 17];
  expect(seen).toEqual([
    [171, before.map((n) => n * 10 + 1), [['mon', 171]], 171, before.map(String)],
    [[1], [['limit', 191]]],
  ]);
});

test('the report reads like a table', async () => {
  const report = await check({
    keyed: { ...without(KEYED, 'days'), total: valueState<number>({ version: 2, migrate: { 1: step } }) },
  });
  const lines = formatSavepointReport(report).replace(savepoint, '<savepoint>').split('\n');
  expect(lines.slice(0, 10)).toEqual([
    'savepoint 1 of job evolving at <savepoint>: does not fit',
    '',
    'operator  state       kind                verdict       why',
    'in                                        restored',
    '          splits      operator list       restored',
    '          enumerator  enumerator          restored',
    'keyed                                     incompatible',
    '          total       value               migrated      version 1 to 2',
    '          recent      list                restored',
    expect.stringMatching(
      /^          days {8}map {17}incompatible {2}CHECKPOINT_INCOMPATIBLE: The checkpoint holds state 'days' of operator 'keyed' in chk-1/,
    ),
  ]);
});

test('a savepoint that is not there, and a job without checkpointing, are refused as by a start', async () => {
  await expect(environmentOf({}, 0).checkSavepoint('evolving', '/nowhere')).rejects.toMatchObject({
    code: 'CHECKPOINT_NONE',
  });
  const env = createEnvironment({ plugins: pluginsOn(disk), logger: SILENT });
  env.from(waitingSource(0, undefined)).to(sink);
  await expect(env.checkSavepoint('evolving', savepoint)).rejects.toMatchObject({ code: 'CONFIG_CONTRADICTION' });
});
