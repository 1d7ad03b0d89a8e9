import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { SILENT } from '../../src/contracts/logger.js';
import { defineRole, type Role } from '../../src/contracts/plugin.js';
import { RestartStrategyRole } from '../../src/contracts/roles.js';
import { createEnvironment, definePlugin } from '../../src/index.js';
import { map } from '../../src/operators.js';
import { collecting, numbers } from './support.js';

setFlagsFromString('--expose_gc');
const gc = runInNewContext('gc') as () => void;

const Resource: Role<object> = defineRole('test.resource/1');
const created: WeakRef<object>[] = [];
let open = 0;

/** Opens something with each job, and must get it closed. */
const withResource = definePlugin<{ attempts?: number | undefined }>({
  name: 'with-resource',
  options: { type: 'object', properties: { attempts: { type: 'integer' } } },
  install: (binder, { attempts = 0 }) => {
    binder.provide(Resource, 'resource', () => {
      open++;
      const resource = { [Symbol.dispose]: () => open-- };
      created.push(new WeakRef(resource));
      return resource;
    });
    binder.provide(RestartStrategyRole, 'counted', (scope) => {
      scope.get(Resource);
      return {
        type: 'counted',
        description: `counted (attempts ${String(attempts)})`,
        initial: () => 0,
        decide: (n) =>
          (n as number) < attempts
            ? [(n as number) + 1, { restart: true, delayMs: 0 }]
            : [n, { restart: false, reason: 'enough' }],
      };
    });
  },
});

test('jobs that have ended leave nothing behind in the process', async () => {
  const plugin = withResource();
  const handles: WeakRef<object>[] = [];
  const runOne = async (): Promise<void> => {
    const env = createEnvironment({ plugins: [plugin], logger: SILENT });
    const out: number[] = [];
    env.from(numbers(10)).to(collecting(out));
    const job = await env.start('tiny');
    expect(await job.done).toBe('finished');
    expect(out).toHaveLength(10);
    handles.push(new WeakRef(job));
  };
  for (let i = 0; i < 500; i++) await runOne();
  for (let turn = 0; turn < 3; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
    gc();
  }
  expect(open).toBe(0);
  expect(created).toHaveLength(500);
  expect([...handles, ...created].filter((ref) => ref.deref() !== undefined).length).toBeLessThan(20);
});

test('two jobs at once keep to their own options', async () => {
  const run = async (attempts: number): Promise<readonly [string, number]> => {
    let failures = 0;
    const env = createEnvironment({ plugins: [withResource({ attempts })], logger: SILENT });
    env
      .from(numbers(3))
      .pipe(
        map((n) => {
          if (n === 2) throw new Error(`failure ${String(++failures)}`);
          return n;
        }),
      )
      .to(collecting<number>([]));
    const end = await env.execute('twin').catch((error: unknown) => (error as { code: string }).code);
    return [end, failures];
  };
  expect(await Promise.all([run(1), run(4)])).toEqual([
    ['RESTART_SUPPRESSED', 2],
    ['RESTART_SUPPRESSED', 5],
  ]);
});
