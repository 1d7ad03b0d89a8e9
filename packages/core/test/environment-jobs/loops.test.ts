import { describe, expect, test } from 'vitest';
import { SILENT } from '../../src/contracts/logger.js';
import type { CheckpointOptions } from '../../src/environment/checkpoint-settings.js';
import { createEnvironment } from '../../src/index.js';
import { filter, iterate, map } from '../../src/operators.js';
import type { Guarantee } from '../../src/graph/stream.js';
import { committingSink, Outside } from '../support/committing-sink.js';
import { HandCoordinator } from '../support/hand-coordinator.js';
import { splitSource } from '../support/split-source.js';

interface Run {
  readonly iterations?: CheckpointOptions['iterations'];
  readonly claim?: Guarantee;
  readonly isCyclic?: boolean;
  readonly isCheckpointed?: boolean;
}

/** The output of a job with a loop, and what it warned of. */
async function run({ iterations, claim, isCyclic = true, isCheckpointed = true }: Run) {
  const outside = new Outside<number>();
  const env = createEnvironment({ logger: SILENT, plugins: [new HandCoordinator().plugin] });
  if (isCheckpointed) env.enableCheckpointing(undefined, { iterations });
  const numbers = env.from(splitSource([[1, 2, 3]]), { uid: 'in' });
  const rounds = iterate<number, number>(
    (input) => {
      const round = input.pipe(map((n) => n - 1));
      return { feedback: round.pipe(filter((n) => n > 0)), output: round.pipe(filter((n) => n <= 0)) };
    },
    { uid: 'rounds' },
  );
  const stream = isCyclic ? numbers.pipe(rounds) : numbers;
  stream.to(committingSink(outside), { uid: 'out', guarantee: claim });
  const warnings: string[] = [];
  const job = await env.start('rounds');
  job.events$.subscribe((event) => {
    if (event.kind === 'warning') warnings.push(event.message);
  });
  await job.done;
  return { output: outside.visible, warnings };
}

describe('checkpoints of a job with loops', () => {
  test('hold what goes round, by default', async () => {
    expect(await run({ claim: 'exactly-once' })).toEqual({ output: [0, 0, 0], warnings: [] });
  });

  test('are refused where the settings say so, before anything runs', async () => {
    await expect(run({ iterations: 'refuse' })).rejects.toMatchObject({
      code: 'ITERATIONS_REFUSED',
      recoverable: false,
    });
    await expect(run({ iterations: 'refuse' })).rejects.toThrow('Job rounds has loops (iterate "rounds")');
  });

  test('are no matter without loops, nor loops without checkpoints', async () => {
    expect((await run({ iterations: 'refuse', isCyclic: false })).output).toEqual([1, 2, 3]);
    expect((await run({ iterations: 'refuse', isCheckpointed: false })).output).toEqual([0, 0, 0]);
  });

  test('may be forced to leave out what goes round, and then say so', async () => {
    const { output, warnings } = await run({ iterations: 'force' });
    expect(output).toEqual([0, 0, 0]);
    expect(warnings).toEqual([expect.stringContaining('is lost after a failure: iterate "rounds"')]);
  });

  test.each<Guarantee>(['exactly-once', 'at-least-once'])(
    'may not claim %s when they leave that out',
    async (claim) => {
      await expect(run({ iterations: 'force', claim })).rejects.toMatchObject({ code: 'GUARANTEE_IMPOSSIBLE' });
      expect((await run({ iterations: 'force', claim, isCyclic: false })).output).toEqual([1, 2, 3]);
    },
  );
});
