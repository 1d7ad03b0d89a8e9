// A program as a user writes it, on the built package. The first argument says how its job ends.
import { createEnvironment, exponentialDelayRestart } from '@weir/core';
import { staticSplits } from '@weir/core/contracts';
import { map } from '@weir/core/operators';

const [, , how] = process.argv;
let failures = 0;

/** 0, 1, 2, ... without end, or up to 999. */
const numbers = (bounded) => ({
  grade: 'replayable',
  bounded,
  enumerator: () => staticSplits([{ id: 'numbers' }]),
  async open(_split, position = 0) {
    let next = position;
    return {
      poll: (max) => (bounded && next >= 1000 ? 'end' : Array.from({ length: Math.min(max, 100) }, () => next++)),
      position: () => next,
      close: async () => undefined,
    };
  },
});
const nowhere = { grade: 'at-least-once', open: () => ({ write: () => undefined, close: () => undefined }) };

const env = createEnvironment({ plugins: how === 'restarted' ? [exponentialDelayRestart({ initialBackoff: 1 })] : [] });
env
  .from(numbers(how !== 'cancelled' && how !== 'aborted'))
  .pipe(
    map((n) => {
      if (how === 'failed' || how === 'failed-unheard' || (how === 'restarted' && n === 500 && failures++ < 2))
        throw new Error('poison');
      return n;
    }),
  )
  .to(nowhere);

const job = await env.start('job', how === 'aborted' ? { signal: AbortSignal.timeout(50) } : {});
if (how === 'cancelled') setTimeout(() => void job.cancel(), 50);
if (how !== 'failed-unheard') console.log(await job.done);
