import { delegating, type Source, type SourceReader, type SplitEnumerator } from '@weir/core/contracts';
import type { Faults } from './faults.js';
import type { Watch } from './watch.js';

/** The same source on a bad day: it fails, lets wait, and gives fewer records than it is asked for. */
export function unreliableSource<T>(source: Source<T>, faults: Faults, watch: Watch): Source<T> {
  return delegating(source, {
    enumerator(context) {
      faults.visit('a split enumerator');
      const enumerator = source.enumerator(context);
      return delegating<SplitEnumerator>(enumerator, {
        start: (restored) => faults.call('starting a split enumerator', () => enumerator.start(restored)),
        close: () => faults.call('closing a split enumerator', () => enumerator.close()),
      });
    },
    async open(split, position, context) {
      await faults.wait(faults.random(), context.signal);
      faults.visit(`opening split ${split.id} of source ${context.uid}`);
      const open = (): Promise<SourceReader<T>> => source.open(split, position, context);
      const reader = await faults.call(`opening split ${split.id} of source ${context.uid}`, open);
      const closed = watch.leftOpen.opened('source readers');
      return delegating<SourceReader<T>>(reader, {
        async close() {
          closed();
          await faults.call(`closing split ${split.id} of source ${context.uid}`, () => reader.close());
        },
        ...(reader.completed !== undefined && {
          completed: async (checkpointId, covered) =>
            faults.call(`acknowledging split ${split.id}`, () => reader.completed?.(checkpointId, covered)),
        }),
        poll(max) {
          const place = `source ${context.uid}`;
          faults.visit(place);
          const some = Math.max(1, Math.ceil(max * faults.random()));
          const slow = faults.slowness(place);
          return slow === undefined
            ? reader.poll(some)
            : faults.wait(slow, context.signal).then(() => reader.poll(some));
        },
      });
    },
  });
}
