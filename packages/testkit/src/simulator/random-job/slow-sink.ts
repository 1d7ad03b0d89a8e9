import { delegating, sleep, type Sink, type SinkGrade, type SinkWriter } from '@weir/core/contracts';

/** The same sink, taking its time for each write. */
export function slowSink<T, K extends SinkGrade, C>(sink: Sink<T, K, C>, ms: number): Sink<T, K, C> {
  return delegating(sink, {
    async open(context) {
      const writer = await sink.open(context);
      return delegating<SinkWriter<T, C>>(writer, {
        async write(batch) {
          await writer.write(batch);
          await sleep(context.clock, ms, context.signal);
        },
      });
    },
  });
}
