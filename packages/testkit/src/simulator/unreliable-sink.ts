import { delegating, type Committer, type Sink, type SinkGrade, type SinkWriter } from '@weir/core/contracts';
import { never, type Faults } from './faults.js';
import { SimulatedFault } from './simulated-fault.js';
import type { Watch } from './watch.js';

/** The same sink at the other end of a bad line. `watch` sees every commit. */
export function unreliableSink<T, K extends SinkGrade, C>(
  sink: Sink<T, K, C>,
  faults: Faults,
  watch: Watch,
): Sink<T, K, C> {
  return delegating(sink, {
    async open(context) {
      const place = `sink ${context.uid}`;
      faults.visit(`opening ${place}`);
      const writer = await faults.call(`opening ${place}`, () => sink.open(context));
      const closed = watch.leftOpen.opened('sink writers');
      const alone = oneAtATime(place, watch);
      return delegating<SinkWriter<T, C>>(writer, {
        async close() {
          closed();
          await faults.call(`closing ${place}`, () => writer.close());
        },
        write(batch) {
          faults.visit(place);
          const slow = faults.slowness(place);
          if (faults.strikes('never-answers', `writing to ${place}`)) return never();
          return alone('write', () => {
            const written = writer.write(batch);
            if (slow === undefined) return written;
            return Promise.all([written, faults.wait(slow, context.signal)]).then(() => undefined);
          });
        },
        ...(writer.prepareCommit === undefined
          ? {}
          : {
              prepareCommit: (checkpointId, kind) =>
                alone('prepareCommit', async () => {
                  faults.visit(`preparing ${place}`);
                  await faults.wait(faults.random(), context.signal);
                  const prepare = async (): Promise<readonly C[]> =>
                    (await writer.prepareCommit?.(checkpointId, kind)) ?? [];
                  const payloads = await faults.call(`preparing ${place}`, prepare);
                  faults.visit(`having prepared ${place}`);
                  return payloads;
                }),
            }),
      });
    },
    ...(sink.committer === undefined
      ? {}
      : {
          async committer(context) {
            const committer = await (sink.committer as NonNullable<typeof sink.committer>)(context);
            return delegating<Committer<C>>(committer, {
              async commit(committables, signal) {
                // Where the line breaks in the middle, only some of it has arrived.
                const arriving = committables.slice(0, arrivingOf(committables.length, faults));
                const outcomes = await faults.ask('commit', `commit of ${context.uid}`, async () => {
                  watch.commits(arriving);
                  return committer.commit(arriving, signal);
                });
                const rest = committables.slice(arriving.length);
                return [...outcomes, ...rest.map(() => ({ kind: 'retry', error: BROKEN }) as const)];
              },
            });
          },
        }),
  });
}

/** Sees that no call of a writer begins before the one before it has settled. */
function oneAtATime(place: string, watch: Watch): <R>(what: string, call: () => R) => R {
  let underWay: string | undefined;
  return (what, call) => {
    if (underWay !== undefined) watch.violated(`${what} of ${place} was called while ${underWay} was under way`);
    underWay = what;
    const over = (): void => {
      underWay = undefined;
    };
    let result: ReturnType<typeof call>;
    try {
      result = call();
    } catch (error) {
      over();
      throw error;
    }
    if (result instanceof Promise) result.then(over, over);
    else over();
    return result;
  };
}

const BROKEN = new SimulatedFault('the line broke in the middle of a commit');

function arrivingOf(count: number, faults: Faults): number {
  return count > 1 && faults.strikes('commit-failure', 'part of a commit')
    ? Math.floor(faults.random() * count)
    : count;
}
