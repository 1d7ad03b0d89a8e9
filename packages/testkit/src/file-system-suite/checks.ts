import assert from 'node:assert/strict';
import type { Awaitable, FileHandle, FileSystem } from '@weir/core/contracts';

export interface FileSystemFixture {
  readonly fileSystem: FileSystem;
  /** Path of the empty folder. */
  readonly root: string;
  /** Makes a symbolic link at `path`, to what need not be there. Without it nothing is asked about links. */
  makeLink?(target: string, path: string): Awaitable<void>;
  /** Makes a FIFO at `path`. Without it nothing is asked about what is neither file nor folder. */
  makeFifo?(path: string): Awaitable<void>;
  /** Cleans up after the test. */
  dispose?(): Awaitable<void>;
}

/** Tests one statement on a file system and a folder of its own. */
export type CheckFileSystem = (
  title: string,
  body: (fs: FileSystem, root: string, fixture: FileSystemFixture) => Promise<void>,
) => void;

export async function names(fs: FileSystem, folder: string): Promise<readonly string[]> {
  return (await fs.readDirectory(folder)).map(({ name }) => name).sort();
}
export function bytes(content: string): Uint8Array {
  return Buffer.from(content);
}
export function text(content: Uint8Array): string {
  return Buffer.from(content).toString();
}
export async function read(fs: FileSystem, path: string): Promise<string> {
  return text(await fs.readFile(path));
}
export async function write(fs: FileSystem, path: string, content: Uint8Array): Promise<void> {
  const file: FileHandle = await fs.open(path, 'create');
  await file.write(content);
  await file.close();
}
export async function rejects(promise: Promise<unknown>, code: string): Promise<void> {
  await assert.rejects(promise, { code });
}
export async function successes(count: number, call: (index: number) => Promise<unknown>): Promise<number> {
  const results = await Promise.allSettled(Array.from({ length: count }, (_, index) => call(index)));
  return results.filter(({ status }) => status === 'fulfilled').length;
}
