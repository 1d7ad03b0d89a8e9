import { delegating } from '../contracts/delegating.js';
import type { Committer, Sink, SinkWriter, SinkWriterContext } from '../contracts/sink.js';
import type { OperatorUid } from '../element/ids.js';
import { checkedCommitter, checkedWriter } from './sink-answers.js';
import type { CallBounds } from './bounded-calls.js';

/** The same sink, each call of which answers or fails in its time. A writer or committer that comes too late is closed. */
export function boundedSink<T>(sink: Sink<T>, uid: OperatorUid, calls: CallBounds): Sink<T> {
  const of = `sink ${uid}`;
  const destination = sink.destination?.bind(sink);
  const prepare = sink.prepare?.bind(sink);
  const committer = sink.committer?.bind(sink);
  return delegating(sink, {
    ...(destination !== undefined && {
      destination: (context) => calls.run('sink.destination', of, () => destination(context)),
    }),
    ...(prepare !== undefined && {
      prepare: (context) => calls.run('sink.prepare', of, () => prepare(context)),
    }),
    async open(context) {
      const waits = new Waits();
      const opened = calls.run('sink.open', of, () => sink.open(waits.counted(context)), { late: (l) => l.close() });
      return boundedWriter(checkedWriter(await opened, context), of, calls, waits);
    },
    ...(committer !== undefined && {
      async committer(context) {
        const made = calls.run('sink.committer', of, () => committer(context), {
          late: (l) => l.close?.(),
        });
        return boundedCommitter(checkedCommitter(await made, context), of, calls);
      },
    }),
  });
}

/** What a writer waits for that the engine owes it: for that long it is not the sink that hangs. */
class Waits {
  #count = 0;

  get areOutstanding(): boolean {
    return this.#count > 0;
  }

  counted(context: SinkWriterContext): SinkWriterContext {
    const nextBarrier = context.nextBarrier?.bind(context);
    return {
      ...context,
      commitNow: (payloads) => this.#counted(context.commitNow(payloads)),
      ...(nextBarrier !== undefined && { nextBarrier: (until) => this.#counted(nextBarrier(until)) }),
    };
  }

  #counted(wait: Promise<void>): Promise<void> {
    this.#count++;
    return wait.finally(() => {
      this.#count--;
    });
  }
}

function boundedWriter<T>(writer: SinkWriter<T>, of: string, calls: CallBounds, waits: Waits): SinkWriter<T> {
  const flush = writer.flush?.bind(writer);
  const prepareCommit = writer.prepareCommit?.bind(writer);
  // Another value each time it is looked at.
  const options = { progress: (): unknown => (waits.areOutstanding ? {} : undefined) };
  return delegating(writer, {
    write: (batch) => calls.run('sink.write', of, () => writer.write(batch), options),
    ...(flush !== undefined && { flush: () => calls.run('sink.flush', of, () => flush()) }),
    ...(prepareCommit !== undefined && {
      prepareCommit: (id, kind) => calls.run('sink.prepareCommit', of, () => prepareCommit(id, kind)),
    }),
    close: () => calls.run('sink.closeWriter', of, () => writer.close()),
  });
}

function boundedCommitter(committer: Committer, of: string, calls: CallBounds): Committer {
  const close = committer.close?.bind(committer);
  return delegating(committer, {
    commit: (committables, signal) => calls.run('sink.commit', of, () => committer.commit(committables, signal)),
    ...(close !== undefined && { close: () => calls.run('sink.closeCommitter', of, () => close()) }),
  });
}
