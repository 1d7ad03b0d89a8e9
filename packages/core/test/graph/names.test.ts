import { describe, expect, test } from 'vitest';
import type { Serializer } from '../../src/contracts/serializer.js';
import { createEnvironment } from '../../src/environment/environment.js';
import { SILENT } from '../../src/contracts/logger.js';
import { iterate } from '../../src/graph/operators/iterate.js';
import { KeyedState } from '../../src/operator/keyed-state.js';
import { checkedSplit } from '../../src/operator/source-answers.js';
import { encodeOperatorState } from '../../src/snapshot/operator-state.js';
import { defaultSerializer } from '../../src/state/default-serializer.js';
import { declarations, valueState } from '../../src/state/descriptors.js';
import { droppedState } from '../../src/state/dropped.js';
import { operatorListState, operatorStateDeclarations } from '../../src/state/operator-state-descriptors.js';
import { operatorContext } from '../support/operator-context.js';
import { quietSource } from '../support/quiet-source.js';

// UTF-8 has no bytes for it: in a checkpoint it is the replacement character, and so is any other like it.
const TORN = '\ud800';
const mine = (change: object): Serializer => ({ ...defaultSerializer, ...change });
const context = operatorContext();

describe('what checkpoints tell things apart by is valid Unicode, or refused where it is declared:', () => {
  test.each<[string, string, () => unknown]>([
    ['a state', 'CONFIG_INVALID', () => declarations('o', { [TORN]: valueState() }, context.clock)],
    [
      'a former name',
      'CONFIG_INVALID',
      () => declarations('o', { a: valueState({ renamedFrom: TORN }) }, context.clock),
    ],
    ['a dropped state', 'CONFIG_INVALID', () => declarations('o', { [TORN]: droppedState() }, context.clock)],
    [
      'an operator state',
      'CONFIG_INVALID',
      () => operatorStateDeclarations('o', { [`a${TORN}`]: operatorListState() }),
    ],
    ['a serializer', 'CONFIG_INVALID', () => valueState({ serializer: mine({ id: TORN }) })],
    ['a serializer of operator state', 'CONFIG_INVALID', () => operatorListState({ serializer: mine({ id: TORN }) })],
    [
      'a serializer of a loop',
      'CONFIG_INVALID',
      () => iterate(() => undefined as never, { serializer: mine({ id: TORN }) }),
    ],
    [
      'a serializer of a source',
      'CONFIG_INVALID',
      () => createEnvironment({ logger: SILENT }).from({ ...quietSource([]), serializer: mine({ id: TORN }) }),
    ],
    [
      'a state that a low-level operator declares',
      'PROTOCOL_VIOLATION',
      () => new KeyedState(context, [{ name: TORN, kind: 'value', serializer: defaultSerializer }]),
    ],
    [
      'a state that a low-level operator captures',
      'PROTOCOL_VIOLATION',
      () => encodeOperatorState({ name: TORN, mode: 'list', serializer: defaultSerializer, values: [1] }),
    ],
    ['a split', 'PROTOCOL_VIOLATION', () => checkedSplit(context, { id: TORN })],
  ])('the name of %s', (_what, code, declare) => {
    expect(declare).toThrow(expect.objectContaining({ code, recoverable: false }) as Error);
  });

  test('the name of a job', async () => {
    const env = createEnvironment({ logger: SILENT });
    await expect(env.start(TORN)).rejects.toMatchObject({ code: 'CONFIG_INVALID', recoverable: false });
  });
});

describe('a serializer that could not be told from another, or is none, is refused where it is declared:', () => {
  test.each<[string, object | undefined]>([
    ['no object', undefined],
    ['no id', { id: '' }],
    ['an id that is no text', { id: 7 }],
    ['a version that is no whole number', { version: 1.5 }],
    ['a version below 0', { version: -1 }],
    ['no encode', { encode: undefined }],
    ['no decode', { decode: 'json' }],
    ['a migrate that is no function', { migrate: true }],
    ['a readerOf that is no function', { readerOf: {} }],
  ])('%s', (_what, change) => {
    const serializer = change === undefined ? ('msgpack' as never) : mine(change);
    expect(() => valueState({ serializer })).toThrow(/^CONFIG_INVALID: The serializer of a state /);
  });
});
