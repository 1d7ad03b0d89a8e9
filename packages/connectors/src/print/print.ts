import type { Writable } from 'node:stream';
import type { Sink } from '@weir/core/contracts';
import { PrintWriter } from './print-writer.js';

export interface PrintOptions {
  /** Begins each line, with `> `; with several subtasks their number, from 1, comes in between. */
  readonly prefix?: string | undefined;
  /** Default: the standard output. It is not ended. */
  readonly stream?: Writable | undefined;
}

/** A line for each record: texts as they are, all else as `util.inspect` shows it. Waits when the stream is full. (Flink: PrintSink.) */
export function print(options: PrintOptions = {}): Sink<unknown, 'at-least-once'> {
  const { prefix, stream = process.stdout } = options;
  return {
    grade: 'at-least-once',
    open({ subtask, parallelism }) {
      const number = parallelism > 1 ? String(subtask + 1) : undefined;
      const parts = [prefix, number].filter((part) => part !== undefined);
      return new PrintWriter(stream, parts.length === 0 ? '' : `${parts.join(':')}> `);
    },
  };
}
