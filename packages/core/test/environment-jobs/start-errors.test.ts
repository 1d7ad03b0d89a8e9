import { describe, expect, test } from 'vitest';
import { SILENT } from '../../src/contracts/logger.js';
import { CoordinatorRole, RestartStrategyRole, StateBackendRole } from '../../src/contracts/roles.js';
import {
  createEnvironment,
  definePlugin,
  defineRole,
  type Environment,
  type EnvironmentOptions,
  type Plugin,
  type StartOptions,
} from '../../src/index.js';
import { keyBy, keyedProcess, map, valueState, type Emit } from '../../src/operators.js';
import { deferred } from '../support/deferred.js';
import { slowSink } from '../support/sinks.js';
import { splitSource } from '../support/split-source.js';

function described(options: EnvironmentOptions = {}, written: unknown[] = []): Environment {
  const env = createEnvironment({ logger: SILENT, ...options });
  env.from(splitSource([[1, 2, 3]]), { uid: 'in' }).to(
    slowSink(written, () => false),
    { uid: 'out' },
  );
  return env;
}
const stateful = (options: EnvironmentOptions = {}): Environment => {
  const env = createEnvironment({ logger: SILENT, ...options });
  env
    .from(splitSource([[1]]))
    .pipe(
      keyBy((n) => n),
      keyedProcess({
        state: { count: valueState({ initial: () => 0 }) },
        onRecord: (_n, { state }, emit: Emit<number>) => {
          emit(state.count.value());
        },
      }),
    )
    .to(slowSink<number>([], () => false));
  return env;
};
const checkpointed = (env: Environment): Environment => {
  env.enableCheckpointing('1s');
  return env;
};

describe('a job that cannot start says why, and what to do', () => {
  test.each<[string, () => Environment, string, RegExp]>([
    ['no coordinator', () => checkpointed(described()), 'PLUGIN_MISSING', /npm i @weir\/coordinator/],
    [
      'no checkpoint storage',
      () => checkpointed(described({ plugins: [coordinatorOnly] })),
      'PLUGIN_MISSING',
      /npm i @weir\/backend-fs/,
    ],
    ['no state backend', () => stateful(), 'PLUGIN_MISSING', /npm i @weir\/backend-memory/],
    [
      'an unknown key',
      () => described({ config: { 'execution.checkpointing.intervall': '1s' } }),
      'CONFIG_UNKNOWN_KEY',
      /execution\.checkpointing\.interval/,
    ],
    ['a parallelism that is none', () => described({ parallelism: 0 }), 'GRAPH_INVALID_PARALLELISM', /0/],
    ['nothing described', () => createEnvironment({ logger: SILENT }), 'GRAPH_EMPTY', /env\.from/],
  ])('%s', async (_what, env, code, message) => {
    const error: unknown = await env()
      .start('job')
      .catch((e: unknown) => e);
    expect(error).toMatchObject({ code, message: expect.stringMatching(message) });
  });

  test("Flink's mode in second place is the mode, and its third argument is refused with what to do", async () => {
    const env = described({ plugins: [coordinatorOnly] });
    env.enableCheckpointing(1000, 'AT_LEAST_MOST' as 'at-least-once');
    await expect(env.start('job')).rejects.toThrow(/CONFIG_INVALID.*mode must be one of EXACTLY_ONCE, AT_LEAST_ONCE/);
    const forced = described().enableCheckpointing as (...all: readonly unknown[]) => void;
    expect(() => {
      forced(1000, 'exactly-once', true);
    }).toThrow(/CONFIG_INVALID.*loops are part of every checkpoint.*iterations: "force"/);
  });

  test.each<[string, EnvironmentOptions, StartOptions]>([
    ['restoreFrom', {}, { restoreFrom: 'latest' }],
    ['the number of a checkpoint', {}, { restoreFrom: { checkpoint: 1 } }],
    ['a path in the configuration', { config: { 'execution.state-recovery.path': './state/job/chk-1' } }, {}],
  ])('a checkpoint to start from without checkpointing: %s', async (_what, options, start) => {
    await expect(described(options).start('job', start)).rejects.toMatchObject({ code: 'CONFIG_CONTRADICTION' });
  });

  test.each<[StartOptions['restoreFrom']]>([['auto'], ['none']])(
    'but restoreFrom %j asks for nothing that is not there',
    async (restoreFrom) => {
      const written: unknown[] = [];
      await described({}, written).execute('job', { restoreFrom });
      expect(written).toEqual([1, 2, 3]);
    },
  );

  test.each([null, 5, {}, { checkpoint: '1' }, { path: 'x' }])(
    'a restoreFrom that is none: %j',
    async (restoreFrom) => {
      await expect(described().start('job', { restoreFrom: restoreFrom as never })).rejects.toMatchObject({
        code: 'CONFIG_INVALID',
        message: expect.stringContaining('restoreFrom must be'),
      });
    },
  );

  test.each([undefined, null, 5, ''])('a name that is none: %j', async (name) => {
    await expect(described().start(name as never)).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  });

  test('a stream without a sink', async () => {
    const env = described();
    env.from(splitSource([[1]]), { uid: 'loose' }).pipe(map((n) => n));
    await expect(env.start('job')).rejects.toMatchObject({ code: 'GRAPH_NO_SINK' });
  });

  test('two operators of one uid', async () => {
    const env = described();
    env.from(splitSource([[1]]), { uid: 'in' }).to(slowSink<number>([], () => false));
    await expect(env.start('job')).rejects.toMatchObject({ code: 'GRAPH_DUPLICATE_UID' });
  });

  test('no name', async () => {
    await expect(described().start('')).rejects.toMatchObject({ code: 'CONFIG_INVALID', recoverable: false });
  });

  test('a claim that cannot be kept', async () => {
    const env = createEnvironment({ logger: SILENT });
    env
      .from(splitSource([[1]]))
      .to(
        { grade: 'exactly-once', open: () => Promise.reject(new Error('not opened')) },
        { guarantee: 'exactly-once' },
      );
    await expect(env.start('job')).rejects.toMatchObject({ code: 'GUARANTEE_IMPOSSIBLE' });
  });

  test('an operator without state needs no backend, also if it is keyed', async () => {
    const env = createEnvironment({ logger: SILENT });
    const out: number[] = [];
    env
      .from(splitSource([[1, 2]]))
      .pipe(
        keyBy((n) => n),
        keyedProcess({
          onRecord: (n, _context, emit: Emit<number>) => {
            emit(n);
          },
        }),
      )
      .to(slowSink(out, () => false));
    expect(await env.execute('job')).toBe('finished');
    expect(out).toEqual([1, 2]);
  });
});

describe('enableCheckpointing', () => {
  test('is called once', () => {
    const env = checkpointed(described());
    expect(() => {
      env.enableCheckpointing('2s');
    }).toThrow(expect.objectContaining({ code: 'CONFIG_CONTRADICTION' }));
  });

  test('is called before the start', async () => {
    const env = described();
    const job = await env.start('job');
    expect(() => {
      env.enableCheckpointing('2s');
    }).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }));
    await job.done;
  });
});

describe('an abort signal', () => {
  test('that has aborted before keeps the job from starting, with its reason', async () => {
    const written: unknown[] = [];
    const reason = new Error('not today');
    await expect(described({}, written).start('job', { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(written).toEqual([]);
  });

  test('that aborts while plugins are loaded ends the job before it has read anything', async () => {
    const written: unknown[] = [];
    const loaded = deferred<object>();
    const abort = new AbortController();
    const env = described({ config: { 'state.backend.type': '@acme/backend' }, load: () => loaded.promise }, written);
    const starting = env.start('job', { signal: abort.signal });
    abort.abort();
    loaded.resolve({ acmeBackend });
    const job = await starting;
    expect(await job.done).toBe('cancelled');
    expect(written).toEqual([]);
  });
});

describe('services that were made for a job that does not start', () => {
  const Resource = defineRole<object>('test.resource/1');
  const withResource = (log: string[], create: () => never): Plugin => ({
    name: 'resource',
    install(binder) {
      binder.provide(Resource, 'r', () => ({ [Symbol.dispose]: () => log.push('disposed') }));
      binder.provide(RestartStrategyRole, 'mine', (scope) => {
        scope.get(Resource);
        log.push('created');
        return create();
      });
    },
  });

  test('are disposed', async () => {
    const log: string[] = [];
    const plugin = withResource(log, () => {
      throw new Error('no such strategy');
    });
    await expect(described({ plugins: [plugin] }).start('job')).rejects.toThrow('no such strategy');
    expect(log).toEqual(['created', 'disposed']);
  });
});

describe('services that cannot be disposed', () => {
  const stuck: Plugin = {
    name: 'stuck',
    install(binder) {
      binder.provide(RestartStrategyRole, 'mine', () => ({
        type: 'none',
        description: 'none',
        initial: () => undefined,
        decide: (state) => [state, { restart: false, reason: 'never' }],
        [Symbol.dispose]: () => {
          throw new Error('stuck');
        },
      }));
    },
  };

  test('do not hide the failure of the job', async () => {
    const env = createEnvironment({ logger: SILENT, plugins: [stuck] });
    env
      .from(splitSource([[1]]))
      .pipe(
        map(() => {
          throw new Error('poison');
        }),
      )
      .to(slowSink<never>([], () => false));
    await expect(env.execute('job')).rejects.toThrow('poison');
  });

  test('are told of when the job has finished', async () => {
    const written: unknown[] = [];
    await expect(described({ plugins: [stuck] }, written).execute('job')).rejects.toMatchObject({
      code: 'PLUGIN_DISPOSE',
    });
    expect(written).toEqual([1, 2, 3]);
  });
});

test('one environment may start its job twice, at the same time', async () => {
  const written: unknown[] = [];
  const env = described({}, written);
  const jobs = await Promise.all([env.start('one'), env.start('two')]);
  expect(await Promise.all(jobs.map(({ done }) => done))).toEqual(['finished', 'finished']);
  expect(written.toSorted()).toEqual([1, 1, 2, 2, 3, 3]);
});

const coordinatorOnly: Plugin = {
  name: 'coordinator-only',
  install(binder) {
    binder.provide(CoordinatorRole, 'x', () => ({
      create: () => {
        throw new Error('not asked for');
      },
    }));
  },
};
const acmeBackend = definePlugin({
  name: '@acme/backend',
  options: { type: 'object', properties: {} },
  install(binder) {
    binder.provide(StateBackendRole, 'acme', () => {
      throw new Error('not asked for');
    });
  },
});
