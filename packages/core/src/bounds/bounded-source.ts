import { isPromiseLike } from '../contracts/awaitable.js';
import { delegating } from '../contracts/delegating.js';
import { missingOfEnumerator, missingOfReader } from '../contracts/source-methods.js';
import type { Source, SourceReader, SplitEnumerator } from '../contracts/source.js';
import type { OperatorUid } from '../element/ids.js';
import type { CallBounds } from './bounded-calls.js';

/**
 * The same source, each call of which answers or fails in its time; a poll when its reader is closed. A reader that comes too late is closed. What is
 * no enumerator or no reader goes through as it is: whoever asked for it says so.
 */
export function boundedSource<T>(source: Source<T>, uid: OperatorUid, calls: CallBounds): Source<T> {
  const of = `source ${uid}`;
  return delegating(source, {
    enumerator: (context) => boundedEnumerator(source.enumerator(context), of, calls),
    async open(split, position, context) {
      const which = `${of}, split ${split.id}`;
      const open = (): Promise<SourceReader<T>> => source.open(split, position, context);
      return boundedReader(await calls.run('source.open', which, open, { late: (l) => l.close() }), which, calls);
    },
  });
}

function boundedEnumerator(enumerator: SplitEnumerator, of: string, calls: CallBounds): SplitEnumerator {
  if (missingOfEnumerator(enumerator) !== undefined) return enumerator;
  return delegating(enumerator, {
    start: (restored) => calls.run('source.start', of, () => enumerator.start(restored)),
    close: () => calls.run('source.closeEnumerator', of, () => enumerator.close()),
  });
}

function boundedReader<T>(reader: SourceReader<T>, of: string, calls: CallBounds): SourceReader<T> {
  if (missingOfReader(reader) !== undefined) return reader;
  let endPoll = (): void => undefined;
  const untilClosed = (outstanding: Promise<readonly T[] | 'end'>): Promise<readonly T[] | 'end'> =>
    new Promise((resolve, reject) => {
      endPoll = () => {
        resolve([]);
      };
      outstanding.then(resolve, reject);
    });
  const completed = typeof reader.completed === 'function' ? reader.completed.bind(reader) : undefined;
  return delegating(reader, {
    poll(max) {
      const polled = reader.poll(max);
      return isPromiseLike(polled) ? untilClosed(polled) : polled;
    },
    position: () => reader.position(),
    ...(completed !== undefined && {
      completed: (checkpointId, position) => calls.run('source.completed', of, () => completed(checkpointId, position)),
    }),
    async close() {
      try {
        await calls.run('source.closeReader', of, () => reader.close());
      } finally {
        endPoll();
      }
    },
  });
}
