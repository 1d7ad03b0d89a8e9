import { Subject } from 'rxjs';
import { expect, test } from 'vitest';
import { batch, type StreamElement } from '../../src/element/element.js';
import { coProcessOperator } from '../../src/operator/co-process.js';
import { StageFlow } from '../../src/stage/stage-flow.js';
import type { States } from '../../src/state/descriptors.js';
import { operatorContext } from '../support/operator-context.js';

test('a watermark, which enters at the first input, waits behind what the second has not finished', () => {
  let hasDemand = true;
  const flow = new StageFlow(
    () => hasDemand,
    () => undefined,
  );
  const expand = (n: number, _context: unknown, emit: (n: number) => void): void => {
    for (let i = 0; i < 1024; i++) emit(n);
  };
  const operator = coProcessOperator<number, number, number, States, number>(
    { ...operatorContext(), flow },
    { firstKeyOf: (n) => n, secondKeyOf: (n) => n, state: {}, onFirst: expand, onSecond: expand },
  );
  const [first, second] = [new Subject<StreamElement<number>>(), new Subject<StreamElement<number>>()];
  const out: unknown[] = [];
  operator.connect(first, second).subscribe((element) => {
    out.push(element.kind === 'batch' ? element.records[0] : element.kind);
    hasDemand = false;
  });
  second.next(batch([1, 2]));
  expect(flow.isSuspended).toBe(true);
  first.next({ kind: 'watermark', time: 5 });
  hasDemand = true;
  while (flow.isSuspended) flow.resume();
  expect(out).toEqual([1, 2, 'watermark']);
});
