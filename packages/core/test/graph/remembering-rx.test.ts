import * as rxjs from 'rxjs';
import { describe, expect, test, vi } from 'vitest';
import { rememberingOperator } from '../../src/graph/operators/remembering-rx.js';
import { rx } from '../../src/graph/operators/stateless.js';

const { from, map, mergeMap, pipe, reduce, scan, take } = rxjs;

describe('RxJS operators that remember', () => {
  test.each<[string, rxjs.OperatorFunction<number, unknown>]>([
    ['audit', rxjs.audit(() => rxjs.NEVER)],
    ['bufferCount', rxjs.bufferCount(100)],
    ['debounceTime', rxjs.debounceTime(10)],
    ['distinct', rxjs.distinct()],
    ['distinctUntilChanged', rxjs.distinctUntilKeyChanged('toString')],
    ['take', rxjs.elementAt(3)],
    ['groupBy', rxjs.groupBy((n) => n)],
    ['pairwise', rxjs.pairwise()],
    ['scan', scan((into: { n: number }, n) => Object.assign(into, { n: into.n + n }), { n: 0 })],
    ['scan', rxjs.toArray()],
    ['scan', rxjs.count()],
    ['take', take(100)],
    ['throttle', rxjs.throttleTime(10)],
    ['windowCount', rxjs.windowCount(2)],
    [
      'take',
      pipe(
        map((n: number) => n + 1),
        take(100),
      ),
    ],
    ['take', (source) => source.pipe(take(100))],
  ])('are refused by name where the job is described: %s', (name, operator) => {
    expect(rememberingOperator(operator as rxjs.OperatorFunction<unknown, unknown>)).toBe(name);
    expect(() =>
      rx(
        map((n: number) => n),
        operator,
      ),
    ).toThrow(expect.objectContaining({ code: 'RX_REMEMBERS', message: expect.stringContaining(name) as string }));
  });

  test.each<[string, rxjs.OperatorFunction<number, unknown>]>([
    ['map', map((n) => n)],
    ['filter', rxjs.filter((n) => n > 0)],
    [
      'mergeMap with what remembers inside',
      mergeMap((n) =>
        from([n]).pipe(
          reduce((a, b) => a + b),
          take(1),
        ),
      ),
    ],
    ['tap', rxjs.tap(() => undefined)],
    ['catchError', rxjs.catchError(() => rxjs.EMPTY)],
    ['one of their own', (source) => new rxjs.Observable((subscriber) => source.subscribe(subscriber))],
  ])('are not taken for others: %s', (_name, operator) => {
    expect(() => rx(operator)).not.toThrow();
  });

  test('are looked for without calling what they were given', () => {
    const project = vi.fn((n: number) => n);
    rx(map(project));
    expect(project).not.toHaveBeenCalled();
  });
});
