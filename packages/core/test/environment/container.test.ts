import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { Container, Token } from 'typedi';
import { afterEach, describe, expect, test } from 'vitest';
import { defineRole, type Role } from '../../src/contracts/plugin.js';
import { CheckpointStorageRole, CoordinatorRole, LoggerRole, StateBackendRole } from '../../src/contracts/roles.js';
import { isWeirError, type WeirError } from '../../src/errors.js';
import { JobContainer } from '../../src/environment/container.js';

interface Service {
  readonly name: string;
}
const A: Role<Service> = defineRole('test.a/1');
const B: Role<Service> = defineRole('test.b/1');
const C: Role<Service> = defineRole('test.c/1');

function caught(action: () => unknown): WeirError {
  try {
    action();
  } catch (error) {
    if (isWeirError(error)) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('a service', () => {
  test('is created when it is first asked for, and once', () => {
    const container = new JobContainer();
    let created = 0;
    container.binder('p').provide(A, 'x', () => ({ name: `a${String(++created)}` }));
    expect(created).toBe(0);
    expect(container.get(A)).toBe(container.get(A));
    expect(created).toBe(1);
  });

  test('gets the others that it needs', () => {
    const container = new JobContainer();
    container.binder('p').provide(A, 'x', (scope) => ({ name: `a of ${scope.get(B).name}` }));
    container.binder('q').provide(B, 'y', () => ({ name: 'b' }));
    expect(container.get(A).name).toBe('a of b');
  });

  test('that could not be created fails the same way again, without a second try', () => {
    const container = new JobContainer();
    let tries = 0;
    container.binder('p').provide(A, 'x', () => {
      throw new Error(`try ${String(++tries)}`);
    });
    expect(() => container.get(A)).toThrow('try 1');
    expect(() => container.get(A)).toThrow('try 1');
  });

  test.each([undefined, null])('is never %s', (nothing) => {
    const container = new JobContainer();
    container.binder('acme').provide(A, 'x', () => nothing as never);
    expect(caught(() => container.get(A)).message).toBe(
      'PLUGIN_INVALID: acme: its factory of test.a/1 (x) returned nothing',
    );
  });

  test('may be a falsy value', () => {
    const container = new JobContainer();
    const zero: Role<number> = defineRole('test.zero/1');
    container.binder('p').provide(zero, 'x', () => 0);
    expect(container.get(zero)).toBe(0);
  });

  test.each([
    ['', () => ({ name: 'a' })],
    [' ', () => ({ name: 'a' })],
    [5, () => ({ name: 'a' })],
    ['x', { name: 'a' }],
  ])('needs a type and a factory: %j', (type, create) => {
    const binder = new JobContainer().binder('acme');
    expect(caught(() => binder.provide(A, type as string, create as () => Service)).code).toBe('PLUGIN_INVALID');
  });

  test('in a circle is refused, naming the circle and nothing before it', () => {
    const container = new JobContainer();
    const binder = container.binder('p');
    binder.provide(C, 'z', (scope) => scope.get(A));
    binder.provide(A, 'x', (scope) => scope.get(B));
    binder.provide(B, 'y', (scope) => scope.get(A));
    const error = caught(() => container.get(C));
    expect(error.code).toBe('PLUGIN_CYCLE');
    expect(error.message).toContain('test.a/1 -> test.b/1 -> test.a/1');
    expect(error.message).not.toContain('test.c/1');
  });

  test('in a circle of any length is refused', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 12 }), fc.nat({ max: 5 }), (length, before) => {
        const container = new JobContainer();
        const roles = Array.from({ length: length + before }, (_, i) => defineRole<Service>(`chain.${String(i)}/1`));
        roles.forEach((role, i) =>
          container.binder('p').provide(role, 'x', (scope) => scope.get(roles[i + 1] ?? roles[before]!)),
        );
        const circle = [...roles.slice(before), roles[before]!].map(({ name }) => name).join(' -> ');
        expect(caught(() => container.get(roles[0]!)).message.endsWith(`: ${circle}`)).toBe(true);
      }),
    );
  });
});

describe('among several candidates', () => {
  const two = (choice?: string): JobContainer => {
    const container = new JobContainer(choice === undefined ? undefined : new Map([[StateBackendRole.name, choice]]));
    container.binder('@weir/backend-memory').provide(StateBackendRole, 'memory', () => ({ type: 'memory' }) as never);
    container.binder('@acme/weir-lmdb').provide(StateBackendRole, 'LMDB', () => ({ type: 'lmdb' }) as never);
    return container;
  };

  test('none is taken by guessing: the error lists them and the key that chooses', () => {
    const error = caught(() => two().get(StateBackendRole));
    expect(error.code).toBe('PLUGIN_AMBIGUOUS');
    expect(error.message).toContain('memory (@weir/backend-memory), LMDB (@acme/weir-lmdb)');
    expect(error.message).toContain('state.backend.type');
  });

  test.each([
    ['hashmap', 'memory'],
    ['memory', 'memory'],
    ['Memory', 'memory'],
    ['lmdb', 'lmdb'],
    ['@acme/weir-lmdb', 'lmdb'],
    ['@weir/backend-memory', 'memory'],
  ])('the configuration chooses: %s is %s', (choice, type) => {
    expect(two(choice).get(StateBackendRole).type).toBe(type);
  });

  test('the one that was chosen must be there', () => {
    const error = caught(() => two('rocksdb').get(StateBackendRole));
    expect(error.code).toBe('PLUGIN_MISSING');
    expect(error.message).toContain('state.backend.type is rocksdb, but what is installed is memory, LMDB');
  });

  test('what the job brings beats what the environment has, whatever is configured', () => {
    const container = two('memory');
    container.binder('mine', 'job').provide(StateBackendRole, 'own', () => ({ type: 'own' }) as never);
    expect(container.get(StateBackendRole).type).toBe('own');
  });

  test('two of one type are as ambiguous as any', () => {
    const container = two('memory');
    container.binder('other').provide(StateBackendRole, 'hashmap', () => ({ type: 'memory' }) as never);
    expect(caught(() => container.get(StateBackendRole)).message).toContain(
      'state.backend.type is memory, which fits several plugins',
    );
  });
});

describe('a role that nothing fills', () => {
  test('is an error that says what to install', () => {
    expect(caught(() => new JobContainer().get(CoordinatorRole)).message).toBe(
      'PLUGIN_MISSING: enableCheckpointing needs a coordinator: npm i @weir/coordinator, then plugins: [checkpointCoordinator()]',
    );
    expect(caught(() => new JobContainer().get(CheckpointStorageRole)).message).toContain('npm i @weir/backend-fs');
    expect(caught(() => new JobContainer().get(StateBackendRole)).message).toContain('npm i @weir/backend-memory');
  });

  test('is an error that says who needs it', () => {
    const container = new JobContainer();
    container.binder('acme').provide(A, 'x', (scope) => scope.get(B));
    expect(caught(() => container.get(A)).message).toContain(
      'nothing provides test.b/1 (test.a/1 of acme asks for it)',
    );
  });

  test('is named together with the others that are needed', () => {
    const error = caught(() => new JobContainer().require(CoordinatorRole, CheckpointStorageRole));
    expect(error.code).toBe('PLUGIN_MISSING');
    expect(error.message).toContain('@weir/coordinator');
    expect(error.message).toContain('@weir/backend-fs');
  });

  test('is not missing if the host supplies it, and a plugin may do better', () => {
    const container = new JobContainer();
    const ofHost = { child: () => ofHost } as never;
    container.supply(LoggerRole, ofHost);
    container.require(LoggerRole);
    expect(container.get(LoggerRole)).toBe(ofHost);
    const better = { child: () => better } as never;
    container.binder('p').provide(LoggerRole, 'better', () => better);
    expect(container.get(LoggerRole)).toBe(better);
  });
});

describe('at the end of a job', () => {
  const closing = (name: string, log: string[], error?: Error): Service & AsyncDisposable => ({
    name,
    async [Symbol.asyncDispose]() {
      log.push(`${name} closes`);
      await Promise.resolve();
      log.push(`${name} closed`);
      if (error !== undefined) throw error;
    },
  });

  test('services are closed in reverse order of their creation, one after the other', async () => {
    const log: string[] = [];
    const container = new JobContainer();
    const binder = container.binder('p');
    binder.provide(B, 'y', () => closing('b', log));
    binder.provide(A, 'x', (scope) => (scope.get(B), closing('a', log)));
    binder.provide(C, 'z', () => ({ name: 'c', [Symbol.dispose]: () => log.push('c closed') }));
    container.get(A);
    container.get(C);
    await container[Symbol.asyncDispose]();
    expect(log).toEqual(['c closed', 'a closes', 'a closed', 'b closes', 'b closed']);
  });

  test('every service is closed although others fail, and every failure is told', async () => {
    const log: string[] = [];
    const container = new JobContainer();
    const binder = container.binder('p');
    const errors = [new Error('disk gone'), new Error('net gone')];
    binder.provide(A, 'x', () => closing('a', log, errors[0]));
    binder.provide(B, 'y', () => closing('b', log));
    binder.provide(C, 'z', () => ({
      name: 'c',
      [Symbol.dispose]() {
        throw errors[1]!;
      },
    }));
    for (const role of [A, B, C]) container.get(role);
    const error = await container[Symbol.asyncDispose]().then(
      () => undefined,
      (e: unknown) => e as WeirError,
    );
    expect(error?.code).toBe('PLUGIN_DISPOSE');
    expect(error?.message).toContain("2 of the job's services could not be closed: net gone; disk gone");
    expect((error?.cause as AggregateError).errors).toEqual([errors[1], errors[0]]);
    expect(log).toContain('b closed');
  });

  test('a service is closed once, however often the job ends and however many roles it fills', async () => {
    const log: string[] = [];
    const container = new JobContainer();
    const shared = closing('s', log);
    container.binder('p').provide(A, 'x', () => shared);
    container.binder('p').provide(B, 'y', () => shared);
    container.get(A);
    container.get(B);
    await Promise.all([container[Symbol.asyncDispose](), container[Symbol.asyncDispose]()]);
    expect(log).toEqual(['s closes', 's closed']);
  });

  test('nothing is created to be closed, and what the host supplied stays open', async () => {
    const log: string[] = [];
    const container = new JobContainer();
    container.supply(A, closing('host', log));
    container.binder('p').provide(B, 'y', () => closing('b', log));
    container.get(A);
    await container[Symbol.asyncDispose]();
    expect(log).toEqual([]);
  });

  test('a service that has a destroy method is not destroyed behind its back', async () => {
    let destroyed = 0;
    const container = new JobContainer();
    container.binder('p').provide(A, 'x', () => ({ name: 'stream', destroy: () => ++destroyed }));
    container.get(A);
    await container[Symbol.asyncDispose]();
    expect(destroyed).toBe(0);
  });

  test('a service may use others while it closes, but none comes into being any more', async () => {
    const container = new JobContainer();
    const log: unknown[] = [];
    const binder = container.binder('p');
    binder.provide(B, 'y', () => ({ name: 'b' }));
    binder.provide(C, 'z', () => ({ name: 'c' }));
    binder.provide(A, 'x', (scope) => ({
      name: 'a',
      [Symbol.dispose]() {
        log.push(scope.get(B).name, caught(() => scope.get(C)).code);
      },
    }));
    container.get(B);
    container.get(A);
    await container[Symbol.asyncDispose]();
    expect(log).toEqual(['b', 'PROTOCOL_VIOLATION']);
  });

  test('what was created is closed in reverse for any graph of services', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(fc.nat(), { maxLength: 3 }), { minLength: 1, maxLength: 10 }),
        async (needs) => {
          const container = new JobContainer();
          const roles = needs.map((_, i) => defineRole<Service>(`graph.${String(i)}/1`));
          const created: string[] = [];
          const closed: string[] = [];
          needs.forEach((others, i) => {
            container.binder('p').provide(roles[i]!, 'x', (scope) => {
              for (const other of others) if (i > 0) scope.get(roles[other % i]!);
              const { name } = roles[i]!;
              created.push(name);
              return { name, [Symbol.dispose]: () => closed.push(name) };
            });
          });
          for (const role of roles.toReversed()) container.get(role);
          await container[Symbol.asyncDispose]();
          expect(created).toHaveLength(roles.length);
          expect(closed).toEqual(created.toReversed());
        },
      ),
    );
  });
});

describe('jobs in one process', () => {
  // `gc` in the flags of the process would have to reach vitest's workers.
  setFlagsFromString('--expose_gc');
  const gc = runInNewContext('gc') as () => void;
  setFlagsFromString('--no-expose_gc');

  const run = async (): Promise<WeakRef<object>[]> => {
    const container = new JobContainer();
    container.binder('p').provide(A, 'x', (scope) => ({ name: `a of ${scope.get(B).name}` }));
    container.binder('p').provide(B, 'y', () => ({ name: 'b' }));
    const refs = [
      new WeakRef<object>(container),
      new WeakRef<object>(container.get(A)),
      new WeakRef<object>(container.get(B)),
    ];
    await container[Symbol.asyncDispose]();
    return refs;
  };

  test('leave nothing behind after 500 of them have ended', async () => {
    const instances = (): number => (Container as unknown as { instances: unknown[] }).instances.length;
    const before = instances();
    const refs: WeakRef<object>[] = [];
    for (let i = 0; i < 500; i++) refs.push(...(await run()));
    for (let turn = 0; turn < 3; turn++) {
      await new Promise((resolve) => setImmediate(resolve));
      gc();
    }
    expect(refs.filter((ref) => ref.deref() !== undefined).length).toBeLessThan(20);
    expect(instances()).toBe(before);
  });

  afterEach(() => Container.reset('test.a/1'));

  test('see nothing of each other, nor of what an application has in the global container', () => {
    Container.set('test.a/1', { name: 'global' });
    Container.set(new Token('test.a/1'), { name: 'global' });
    const [one, other] = [new JobContainer(), new JobContainer()];
    one.binder('p').provide(A, 'x', () => ({ name: 'one' }));
    expect(one.get(A).name).toBe('one');
    expect(other.has(A)).toBe(false);
    expect(caught(() => other.get(A)).code).toBe('PLUGIN_MISSING');
  });
});
