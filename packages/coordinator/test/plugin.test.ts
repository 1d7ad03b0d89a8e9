import { CoordinatorRole, type Binder, type Scope } from '@weir/core/contracts';
import { expect, test } from 'vitest';
import { checkpointCoordinator } from '@weir/coordinator';
import { Process } from './harness.js';

test('the plugin fills the role of coordinator, anew for each job', () => {
  const provided: [string, string][] = [];
  const made: unknown[] = [];
  const binder: Binder = {
    provide: (role, type, create) => {
      provided.push([role.name, type]);
      made.push(create({} as Scope));
    },
  };
  const plugin = checkpointCoordinator();
  plugin.install(binder);
  expect(plugin.name).toBe('@weir/coordinator');
  expect(provided).toEqual([[CoordinatorRole.name, 'coordinator']]);
  expect(made).toMatchObject([{ create: expect.any(Function) }]);
  expect(new Process().coordinator).not.toBe(new Process().coordinator);
});
