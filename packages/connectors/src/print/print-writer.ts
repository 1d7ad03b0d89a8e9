import type { Writable } from 'node:stream';
import { inspect } from 'node:util';
import type { SinkWriter } from '@weir/core/contracts';

export class PrintWriter implements SinkWriter<unknown> {
  readonly #stream: Writable;
  readonly #prefix: string;
  /** Settles when the last write is through; never rejects. */
  #last: Promise<void> = Promise.resolve();
  #failure: { readonly error: Error } | undefined;

  constructor(stream: Writable, prefix: string) {
    this.#stream = stream;
    this.#prefix = prefix;
    // One more of the listeners that nobody has forgotten to remove: each writer takes its own away when it is closed.
    if (stream.getMaxListeners() > 0) stream.setMaxListeners(stream.getMaxListeners() + 1);
    stream.on('error', this.#onError);
  }

  write(batch: readonly unknown[]): void | Promise<void> {
    this.#throwFailure();
    if (batch.length === 0) return;
    let text = '';
    for (const record of batch) text += `${this.#prefix}${shown(record)}\n`;
    let through = (): void => undefined;
    this.#last = new Promise((resolve) => {
      through = resolve;
    });
    const hasRoom = this.#stream.write(text, (error) => {
      if (error) this.#onError(error);
      through();
    });
    return hasRoom ? undefined : this.flush();
  }

  async flush(): Promise<void> {
    await this.#last;
    this.#throwFailure();
  }

  async close(): Promise<void> {
    await this.#last;
    this.#stream.off('error', this.#onError);
    if (this.#stream.getMaxListeners() > 0) this.#stream.setMaxListeners(this.#stream.getMaxListeners() - 1);
  }

  readonly #onError = (error: Error): void => {
    this.#failure ??= { error };
  };

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }
}

function shown(record: unknown): string {
  return typeof record === 'string' ? record : inspect(record, { breakLength: Infinity, compact: true, depth: 10 });
}
