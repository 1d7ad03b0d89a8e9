import assert from 'node:assert/strict';
import { isWeirError, type Awaitable, type ErrorCode, type StateBackend } from '@weir/core/contracts';
import type { TestFunction } from '../suite.js';
import { KeyedStores, ORIGINS, type Origin } from './keyed-stores.js';

export interface StateBackendSuiteOptions {
  /** A backend that holds nothing, new for each test. */
  readonly create: () => Awaitable<StateBackend>;
  /**
   * Where captures hold bytes beyond the state: a store of `create` must be pressed once these are more than so many. Choose it small, as the suite
   * fills it up. Left out for a backend whose captures hold nothing of their own.
   */
  readonly pressedAbove?: number | undefined;
  /** Random histories tried with each origin. Default 50. */
  readonly histories?: number | undefined;
  /** Replays the histories of a failure that named this seed. */
  readonly seed?: number | undefined;
}

/** Registers a test for stores of each origin. */
export type Check = (title: string, body: (stores: KeyedStores) => void | Promise<void>) => void;

export function checksOf(test: TestFunction, options: StateBackendSuiteOptions): Check {
  return (title, body) => {
    for (const [origin, where] of Object.entries(ORIGINS)) {
      test(`${title}, ${where}`, async () => {
        const stores = await KeyedStores.open(await options.create(), origin as Origin);
        await body(stores);
        await stores.close();
      });
    }
  };
}

/** The call fails with the code, thrown or rejected. */
export async function failsWith(code: ErrorCode, call: () => unknown): Promise<void> {
  let answer: unknown;
  try {
    answer = await call();
  } catch (error) {
    assert(isWeirError(error, code), `fails with ${code}, not with ${String(error)}`);
    return;
  }
  assert.fail(`fails with ${code}, not with the answer ${String(answer)}`);
}
