import { delegating, type Source, type SourceReader } from '@weir/core/contracts';
import type { Faults } from './faults.js';
import type { Watch } from './watch.js';

/** The same source on a bad day: it fails, lets wait, and gives fewer records than it is asked for. */
export function unreliableSource<T>(source: Source<T>, faults: Faults, watch: Watch): Source<T> {
  return delegating(source, {
    enumerator(context) {
      faults.visit('a split enumerator');
      return source.enumerator(context);
    },
    async open(split, position, context) {
      await faults.wait(faults.random(), context.signal);
      faults.visit(`opening split ${split.id} of source ${context.uid}`);
      const reader = await source.open(split, position, context);
      const closed = watch.leftOpen.opened('source readers');
      return delegating<SourceReader<T>>(reader, {
        async close() {
          closed();
          await reader.close();
        },
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
