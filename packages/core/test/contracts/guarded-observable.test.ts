import { config, lastValueFrom, map, Observable, Subject, timer } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { GuardedObservable } from '../../src/contracts/guarded-observable.js';

const uncaught: unknown[] = [];
beforeEach(() => {
  uncaught.length = 0;
  config.onUnhandledError = (error) => uncaught.push(error);
});
afterEach(() => {
  config.onUnhandledError = null;
});

/** RxJS raises what nobody handles in a timer of its own, which is due before this one. */
const afterUnhandled = (): Promise<unknown> => lastValueFrom(timer(1));

function guarded(): { source: Subject<number>; reported: unknown[]; observable: Observable<number> } {
  const source = new Subject<number>();
  const reported: unknown[] = [];
  const observable = new GuardedObservable<number>(
    (error) => reported.push(error),
    (subscriber) => source.subscribe(subscriber),
  );
  return { source, reported, observable };
}
const boom = new Error('boom');
const fail = (): never => {
  throw boom;
};

describe('a guarded Observable', () => {
  test('is an Observable like any other to those that behave', () => {
    const scheduler = new TestScheduler((actual, expected) => {
      expect(actual).toEqual(expected);
    });
    scheduler.run(({ hot, expectObservable }) => {
      for (const end of ['|', '#', '-']) {
        const source = hot(`-a-b-${end}`);
        const observable: Observable<string> = new GuardedObservable(fail, (subscriber) =>
          source.subscribe(subscriber),
        );
        expectObservable(observable).toBe(`-a-b-${end}`);
        const piped = observable.pipe(map((letter) => letter + letter));
        expectObservable(piped).toBe(`-a-b-${end}`, { a: 'aa', b: 'bb' });
        expectObservable(observable, '--^-!').toBe('---b-');
      }
    });
  });

  test.each<[string, (observable: Observable<number>) => unknown]>([
    ['a function', (observable) => observable.subscribe(fail)],
    ['an observer', (observable) => observable.subscribe({ next: fail, error: () => undefined })],
    ['a function behind operators', (observable) => observable.pipe(map((n) => n + 1)).subscribe(fail)],
    [
      'a function behind operators behind operators',
      (o) =>
        o
          .pipe(map((n) => n))
          .pipe(map((n) => n))
          .subscribe(fail),
    ],
    ['an operator whose error nobody handles', (observable) => observable.pipe(map(fail)).subscribe(() => undefined)],
    ['a function that is asynchronous', (observable) => observable.subscribe(() => Promise.reject(boom) as never)],
    ['a function behind it all', (observable) => observable.pipe(map(fail)).subscribe({ error: fail })],
    ['an operator that nobody listens to', (observable) => observable.pipe(map(fail)).subscribe()],
  ])('reports what %s throws, where RxJS would raise it later', async (_what, subscribe) => {
    const { source, reported, observable } = guarded();
    subscribe(observable);
    source.next(1);
    await afterUnhandled();
    expect({ reported, uncaught }).toEqual({ reported: [boom], uncaught: [] });
  });

  test('goes on giving values to a consumer that threw, and to the others', () => {
    const { source, observable } = guarded();
    const seen: string[] = [];
    observable.subscribe((n) => {
      seen.push(`first ${String(n)}`);
      throw boom;
    });
    observable.subscribe((n) => {
      seen.push(`second ${String(n)}`);
    });
    source.next(1);
    source.next(2);
    expect(seen).toEqual(['first 1', 'second 1', 'first 2', 'second 2']);
  });

  test('leaves an error to the consumer that handles it', async () => {
    const { source, reported, observable } = guarded();
    const handled: unknown[] = [];
    observable.pipe(map(fail)).subscribe({ error: (error: unknown) => handled.push(error) });
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- RxJS 7 still takes it
    observable.subscribe(undefined, (error) => handled.push(error));
    source.next(1);
    source.error(boom);
    await afterUnhandled();
    expect({ handled, reported, uncaught }).toEqual({ handled: [boom, boom], reported: [], uncaught: [] });
  });

  test('leaves to RxJS what the report throws back', async () => {
    const source = new Subject<number>();
    const observable = new GuardedObservable<number>(
      (error) => {
        throw error;
      },
      (subscriber) => source.subscribe(subscriber),
    );
    observable.subscribe(fail);
    source.next(1);
    await afterUnhandled();
    expect(uncaught).toEqual([boom]);
  });

  test('gives back whatever a function at the end of pipe makes of it', () => {
    const { observable } = guarded();
    const result: unknown = (observable.pipe as (...f: unknown[]) => unknown).call(observable, () => 42);
    expect(result).toBe(42);
    expect(observable.pipe()).toBe(observable);
  });
});
