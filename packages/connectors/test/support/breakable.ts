import type { FileHandle, FileSystem } from '@weir/core/contracts';
import type { BrokenLine, SinkLine } from '@weir/testkit';

interface Break {
  readonly nth: number;
  readonly how: 'fails' | 'dies';
  readonly onReached: () => void;
  count: number;
}

/** A file system of which any single operation can be made to fail, or to be the last that a process does. */
export function breakable(disk: FileSystem): { readonly fileSystem: FileSystem; readonly line: SinkLine } {
  let broken: Break | undefined;
  const ask = async <T>(operation: () => Promise<T>): Promise<T> => {
    const at = broken;
    if (at === undefined) return operation();
    at.count++;
    if (at.count === at.nth) {
      at.onReached();
      if (at.how === 'fails') throw Object.assign(new Error('EIO: the line is broken'), { code: 'EIO' });
    }
    if (at.how === 'dies' && at.count >= at.nth) return new Promise<never>(() => undefined);
    return operation();
  };
  const handleOf = (handle: FileHandle): FileHandle => ({
    write: (bytes) => ask(() => handle.write(bytes)),
    read: (position, length) => ask(() => handle.read(position, length)),
    sync: () => ask(() => handle.sync()),
    truncate: (length) => ask(() => handle.truncate(length)),
    close: () => handle.close(),
  });
  return {
    fileSystem: {
      open: async (path, mode) => handleOf(await ask(() => disk.open(path, mode))),
      readFile: (path) => ask(() => disk.readFile(path)),
      readDirectory: (path) => ask(() => disk.readDirectory(path)),
      stat: (path) => ask(() => disk.stat(path)),
      lstat: (path) => ask(() => disk.lstat(path)),
      realPath: (path) => ask(() => disk.realPath(path)),
      makeDirectory: (path) => ask(() => disk.makeDirectory(path)),
      rename: (from, to) => ask(() => disk.rename(from, to)),
      remove: (path) => ask(() => disk.remove(path)),
      removeTree: (path) => ask(() => disk.removeTree(path)),
      syncDirectory: (path) => ask(() => disk.syncDirectory(path)),
    },
    line: {
      breakAt(nth, how): BrokenLine {
        let onReached = (): void => undefined;
        const reached = new Promise<void>((resolve) => {
          onReached = resolve;
        });
        const at: Break = { nth, how, onReached, count: 0 };
        broken = at;
        return {
          reached,
          heal() {
            broken = undefined;
            return at.count >= nth;
          },
        };
      },
    },
  };
}
