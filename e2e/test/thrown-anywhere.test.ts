import { createMemoryStateBackend, createMemoryStorage } from '@weir/backend-memory';
import { checkpointCoordinator } from '@weir/coordinator';
import { CheckpointStorageRole, createEnvironment, StateBackendRole, type JobEvent, type Plugin } from '@weir/core';
import {
  causesOf,
  isWeirError,
  messageOf,
  nextTurn,
  NO_METRICS,
  type Awaitable,
  type Logger,
  type Metrics,
  type Sink,
  type SinkDestination,
  type Source,
} from '@weir/core/contracts';
import { flatMap, keyBy, keyedProcess, map, valueState, type Emit } from '@weir/core/operators';
import { fixedDelayRestart } from '@weir/restart-strategies';
import { seededRandom, transactionalMemorySink, VirtualClock } from '@weir/testkit';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { paced } from './support/paced-job.js';
import { steppedStorage } from './support/stepped-storage.js';

const RECORDS = 12;
const boom = (): never => {
  throw new Error('boom');
};
const withGetter = (name: string): Error => Object.defineProperty(new Error('hostile'), name, { get: boom });
const revoked = (): object => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};
const traps = Object.getOwnPropertyNames(Reflect).map((name) => [name, boom] as const);

/** What is thrown. */
const THROWN: Readonly<Record<string, () => unknown>> = {
  undefined: () => undefined,
  null: () => null,
  'a text': () => 'hostile',
  'a frozen error': () => Object.freeze(new Error('hostile')),
  'an error whose message throws': () => withGetter('message'),
  'an error whose stack throws': () => withGetter('stack'),
  'an error whose cause throws': () => withGetter('cause'),
  'an error whose code throws': () => withGetter('code'),
  'a proxy that throws': () => new Proxy(new Error('hostile'), Object.fromEntries(traps)),
  'a revoked proxy': revoked,
};

const PLACES = [
  'map',
  'flatMap',
  'keyBy',
  'initial state',
  'onRecord',
  'enumerator',
  'open source',
  'poll',
  'poll later',
  'position',
  'close source',
  'find destination',
  'open sink',
  'write',
  'write later',
  'prepare commit',
  'commit',
  'close sink',
  'create checkpoint',
  'publish checkpoint',
] as const;
type Place = (typeof PLACES)[number];
/** Places where an error is no failure of the job: what is asked for is tried again, or over. */
const HARMLESS: readonly Place[] = ['commit', 'close sink', 'create checkpoint'];

/** A logger and a metrics object that throw at random. */
function brokenObservers(): { readonly logger: Logger; readonly metrics: Metrics } {
  const random = seededRandom(7);
  const maybe = (): void => {
    if (random() < 0.5) boom();
  };
  const logger: Logger = {
    debug: maybe,
    info: maybe,
    warn: maybe,
    error: maybe,
    child() {
      maybe();
      return logger;
    },
  };
  const instrument = { add: maybe, record: maybe };
  const metrics: Metrics = {
    counter: () => (maybe(), instrument),
    histogram: () => (maybe(), instrument),
    gauge: (...gauge) => (maybe(), NO_METRICS.gauge(...gauge)),
  };
  return { logger, metrics };
}

interface Run {
  readonly end: unknown;
  readonly visible: readonly (readonly [number, number])[];
  readonly events: readonly JobEvent[];
}

/** A job that throws `make()` at `place`, the first `times` times, watched by what throws at random. */
async function run(place: Place, make: () => unknown, times: number): Promise<Run> {
  const clock = new VirtualClock();
  let left = times;
  const at = (here: Place): void => {
    if (here !== place || left === 0) return;
    left--;
    throw make();
  };
  const later = (here: Place): Promise<void> => nextTurn(clock).then(() => at(here));
  const numbers = paced(RECORDS, 4);
  const source: Source<number, 'replayable', { readonly id: string }, number> = {
    ...numbers,
    enumerator: (context) => (at('enumerator'), numbers.enumerator(context)),
    async open(split, position, context) {
      at('open source');
      const reader = await numbers.open(split, position, context);
      return {
        poll(max) {
          at('poll');
          return later('poll later').then(() => reader.poll(max));
        },
        position: () => (at('position'), reader.position()),
        close: async () => {
          await reader.close();
          at('close source');
        },
      };
    },
  };
  const memory = transactionalMemorySink<readonly [number, number]>();
  const sink: Sink<readonly [number, number], 'exactly-once', number> = {
    grade: 'exactly-once',
    async open(context) {
      at('open sink');
      const writer = await memory.open(context);
      return {
        write(batch) {
          at('write');
          return later('write later').then(() => writer.write(batch));
        },
        prepareCommit: (id, kind) => (at('prepare commit'), writer.prepareCommit?.(id, kind) ?? []),
        close: async () => {
          await writer.close();
          at('close sink');
        },
      };
    },
    destination(context) {
      at('find destination');
      return memory.destination?.(context) as Awaitable<SinkDestination>;
    },
    async committer(context) {
      const committer = await memory.committer?.(context);
      return {
        commit: async (committables, signal) => {
          at('commit');
          return (await committer?.commit(committables, signal)) ?? [];
        },
      };
    },
  };
  const services: Plugin = {
    name: 'services',
    install(binder) {
      binder.provide(StateBackendRole, 'memory', () => createMemoryStateBackend());
      binder.provide(CheckpointStorageRole, 'stepped', () =>
        steppedStorage(createMemoryStorage(), (step) => {
          if (step === 'create') at('create checkpoint');
          if (step === 'publish') at('publish checkpoint');
          return undefined;
        }),
      );
    },
  };
  const env = createEnvironment({
    plugins: [checkpointCoordinator(), services, fixedDelayRestart({ attempts: 3, delay: 1 })],
    clock,
    random: seededRandom(1),
    ...brokenObservers(),
  });
  env.enableCheckpointing(10);
  env
    .from(source, { uid: 'numbers' })
    .pipe(
      map((n) => (at('map'), n)),
      flatMap(function* (n) {
        yield n;
        at('flatMap');
      }),
      keyBy((n) => (at('keyBy'), n % 3)),
      keyedProcess({
        uid: 'count',
        state: { count: valueState({ initial: () => (at('initial state'), 0) }) },
        onRecord(n, { state: { count } }, emit: Emit<readonly [number, number]>) {
          at('onRecord');
          count.update(count.value() + 1);
          emit([n, count.value()]);
        },
      }),
    )
    .to(sink, { uid: 'out' });
  const events: JobEvent[] = [];
  let end: unknown;
  void env.start('job').then(
    (job) => {
      job.events$.subscribe((event) => events.push(event));
      job.events$.subscribe(boom);
      job.done.then(
        (how) => (end = how),
        (error: unknown) => (end = { error }),
      );
    },
    (error: unknown) => (end = { error }),
  );
  await clock.until(() => end !== undefined);
  return { end, visible: memory.visible, events };
}
const emitWarning = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
afterAll(() => {
  emitWarning.mockRestore();
});

const EXPECTED = Array.from({ length: RECORDS }, (_, n) => [n, Math.floor(n / 3) + 1]);

describe.each(PLACES)('thrown at %s', (place) => {
  test.each(Object.entries(THROWN))('once, %s costs nothing of the output', async (_what, make) => {
    const { end, visible, events } = await run(place, make, 1);
    expect(end).toBe('finished');
    expect(visible.toSorted(([a], [b]) => a - b)).toEqual(EXPECTED);
    const failures = events.filter(({ kind }) => kind === 'failure').length;
    expect(failures).toBe(HARMLESS.includes(place) ? 0 : 1);
  });

  if (HARMLESS.includes(place)) return;
  test.each(Object.entries(THROWN))('again and again, %s is what the job fails with', async (_what, make) => {
    const { end } = await run(place, make, Infinity);
    const { error } = end as { error: unknown };
    expect(isWeirError(error)).toBe(true);
    // By its text: there is a new one each time.
    const texts = [...causesOf(error)].map(messageOf);
    expect(texts.join('\n')).toContain(messageOf(make()));
  });
});
