import { expectTypeOf, test } from 'vitest';
import type { Binder, Plugin, PluginFactory, Role } from '../../src/contracts.js';
import { defineRole, definePlugin, type Duration, type PluginList } from '../../src/index.js';

interface Backend {
  readonly capabilities: { readonly incremental: boolean };
  open(keyGroups: number): { close(): void };
}
interface Log {
  warn(message: string): void;
}
const BackendRole: Role<Backend> = defineRole<Backend>('test.backend/1');
const LogRole: Role<Log> = defineRole<Log>('test.log/1');

interface LmdbOptions {
  dir: string;
  mapSize?: number | undefined;
}
const lmdb = definePlugin<LmdbOptions>({
  name: '@acme/weir-lmdb',
  options: { type: 'object', properties: { dir: { type: 'string' }, mapSize: { type: 'integer' } }, required: ['dir'] },
  keys: { dir: 'state.backend.lmdb.dir' },
  install(binder, options) {
    binder.provide(BackendRole, 'lmdb', (scope) => {
      scope.get(LogRole).warn(options.dir);
      return { capabilities: { incremental: false }, open: () => ({ close() {} }) };
    });
  },
});

test('a factory takes its options, all of them or none, and makes a plugin', () => {
  expectTypeOf(lmdb).toEqualTypeOf<PluginFactory<LmdbOptions>>();
  expectTypeOf(lmdb({ dir: 'x' })).toEqualTypeOf<Plugin>();
  lmdb();
  // @ts-expect-error an option that there is not
  lmdb({ dir: 'x', size: 5 });
  // @ts-expect-error an option of the wrong type
  lmdb({ dir: 5 });
});

test('plugins nest', () => {
  expectTypeOf([lmdb(), [lmdb(), [lmdb()]]]).toExtend<PluginList>();
  // @ts-expect-error a factory is not a plugin
  const _plugins: PluginList = [lmdb];
});

test('every option has a schema', () => {
  definePlugin<LmdbOptions>({
    name: 'x',
    // @ts-expect-error mapSize has none
    options: { type: 'object', properties: { dir: {} } },
    install() {},
  });
});

test('a key belongs to an option', () => {
  definePlugin<LmdbOptions>({
    name: 'x',
    options: { type: 'object', properties: { dir: {}, mapSize: {} } },
    // @ts-expect-error there is no option size
    keys: { size: 'x.y' },
    install() {},
  });
});

test('a candidate is what the role wants', () => {
  const bind = (binder: Binder): void => {
    // @ts-expect-error the wrong service for the role
    binder.provide(BackendRole, 'x', () => ({ capabilities: { incremental: 'no' }, open: () => 3 }));
  };
  expectTypeOf(bind).toBeFunction();
});

test('roles are invariant', () => {
  // @ts-expect-error one role is not another
  const _wrong: Role<Log> = BackendRole;
  // @ts-expect-error nor a more general one
  const _general: Role<object> = BackendRole;
});

test('a duration is a number or a number with a unit', () => {
  expectTypeOf<500 | '500 ms' | '10s' | '1.5 h'>().toExtend<Duration>();
  expectTypeOf<'soon'>().not.toExtend<Duration>();
  expectTypeOf<'5 parsecs'>().not.toExtend<Duration>();
});
