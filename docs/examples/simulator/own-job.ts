import { memoryBackend } from '@weir/backend-memory';
import { checkpointCoordinator } from '@weir/coordinator';
import { keyBy, keyedProcess, valueState, type Emit } from '@weir/core/operators';
import { fixedDelayRestart } from '@weir/restart-strategies';
import { numbers, simulate, transactionalMemorySink, type SimulatedJob } from '@weir/testkit';

/** The job, and the world outside of it: a new one for each run. */
function makeJob(): SimulatedJob {
  const topic = transactionalMemorySink<string>();
  return {
    plugins: () => [checkpointCoordinator(), memoryBackend(), fixedDelayRestart({ attempts: 3, delay: '100 ms' })],
    describe(env, { sink, hazard }) {
      env.enableCheckpointing('20 ms');
      env
        .from(numbers(100, { perPoll: 2, turnsBetween: 10 }), { uid: 'numbers' })
        .pipe(
          hazard(),
          keyBy((n) => n % 7),
          keyedProcess({
            uid: 'count',
            state: { count: valueState({ initial: () => 0 }) },
            onRecord(_n, { key, state: { count } }, emit: Emit<string>) {
              count.update(count.value() + 1);
              emit(`${String(key)} has come ${String(count.value())} times`);
            },
          }),
        )
        .to(sink(topic), { uid: 'counts' });
    },
    output: () => topic.visible,
  };
}

const { seeds, failures } = await simulate(makeJob, { seeds: 20 });
console.log(`${String(seeds)} seeds, ${String(failures.length)} failures`);
for (const { seed, problem } of failures) console.log(seed, problem);
