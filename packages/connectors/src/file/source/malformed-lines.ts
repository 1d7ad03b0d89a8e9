import path from 'node:path';
import { hasCode, makeDurableFolder, type Counter, type FileHandle } from '@weir/core/contracts';
import type { InputFile } from './input-file.js';

export interface SkippedLine {
  readonly line: number;
  readonly reason: string;
  readonly text: string;
}

/**
 * Appends malformed lines to a side file, each as a line of JSON with file, line number, reason and text. They are durable before the records
 * behind them are handed over: after a crash some may be there twice, none is missing.
 */
export class MalformedLines {
  readonly #input: InputFile;
  readonly #sidePath: string;
  readonly #count: Counter;
  #handle: FileHandle | undefined;

  constructor(input: InputFile, sidePath: string) {
    this.#input = input;
    this.#sidePath = sidePath;
    this.#count = input.context.metrics.counter('weir.source.malformed', { uid: input.context.uid });
  }

  async write(lines: readonly SkippedLine[]): Promise<void> {
    const handle = (this.#handle ??= await this.#open());
    const text = lines.map((line) => JSON.stringify({ file: this.#input.path, ...line }) + '\n').join('');
    // One call for whole lines: readers of other splits append to the same file.
    await handle.write(Buffer.from(text, 'utf8'));
    await handle.sync();
    this.#count.add(lines.length);
    this.#warn(lines);
  }

  async close(): Promise<void> {
    await this.#handle?.close();
  }

  #warn(lines: readonly SkippedLine[]): void {
    const { logger, uid } = this.#input.context;
    const { line, reason } = lines[0] as SkippedLine;
    logger.warn(
      { uid, file: this.#input.path, line, reason, skipped: lines.length, skippedTo: this.#sidePath },
      'malformed lines were skipped',
    );
  }

  async #open(): Promise<FileHandle> {
    const { fileSystem } = this.#input;
    const folder = path.dirname(this.#sidePath);
    await makeDurableFolder(fileSystem, folder);
    const isTorn = await this.#endsInTheMiddleOfALine();
    const handle = await fileSystem.open(this.#sidePath, 'append');
    if (isTorn) await handle.write(Buffer.from('\n'));
    await fileSystem.syncDirectory(folder);
    return handle;
  }

  /** A crash may have torn the last line: what is appended must not become a part of it. */
  async #endsInTheMiddleOfALine(): Promise<boolean> {
    const { fileSystem } = this.#input;
    try {
      const { size } = await fileSystem.stat(this.#sidePath);
      if (size === 0) return false;
      const handle = await fileSystem.open(this.#sidePath, 'read');
      try {
        const [byte] = await handle.read(size - 1, 1);
        return byte !== 10;
      } finally {
        await handle.close();
      }
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return false;
      throw error;
    }
  }
}
