import { fc, test } from '@fast-check/vitest';
import { expect } from 'vitest';
import { RingBuffer } from '../../src/rxjs/ring-buffer.js';

const steps = fc.array(fc.oneof(fc.constant('push' as const), fc.nat({ max: 7 })), { maxLength: 200 });

test.prop([fc.integer({ min: 1, max: 9 }), steps])(
  'a ring buffer gives back what was pushed, in order, and knows when it is full',
  (capacity, program) => {
    const ring = new RingBuffer<number>(capacity);
    const model: number[] = [];
    let next = 0;
    for (const step of program) {
      if (step !== 'push') expect(ring.take(step)).toEqual(model.splice(0, step));
      else if (model.length < capacity) {
        ring.push(next);
        model.push(next++);
      }
      expect([ring.size, ring.isFull]).toEqual([model.length, model.length === capacity]);
    }
  },
);
