import type { TemporaryFiles } from '../../src/contracts/temporary-files.js';

/** Files in memory. `onWrite` may take its time or fail. */
export class MemoryTemporaryFiles implements TemporaryFiles {
  readonly #onWrite: () => void | Promise<void>;
  /** Of files that are open. */
  open = 0;
  created = 0;
  /** Written in all. */
  bytes = 0;

  constructor(onWrite: () => void | Promise<void> = () => undefined) {
    this.#onWrite = onWrite;
  }

  create(): ReturnType<TemporaryFiles['create']> {
    this.created++;
    this.open++;
    const chunks: { readonly at: number; readonly bytes: Uint8Array }[] = [];
    let size = 0;
    return Promise.resolve({
      write: async (bytes) => {
        await this.#onWrite();
        this.bytes += bytes.length;
        chunks.push({ at: size, bytes: Buffer.from(bytes) });
        size += bytes.length;
      },
      // Less than what was asked for, as a disk may do.
      read: (position, length) => {
        const chunk = chunks.find(({ at, bytes }) => position < at + bytes.length);
        const from = position - (chunk?.at ?? 0);
        return Promise.resolve(
          chunk?.bytes.subarray(from, from + Math.max(1, Math.ceil(length / 2))) ?? new Uint8Array(),
        );
      },
      close: () => {
        this.open--;
        return Promise.resolve();
      },
    });
  }
}
