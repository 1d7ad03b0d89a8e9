import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FileHandle, FileSystem } from '../contracts/file-system.js';
import type { TemporaryFiles } from '../contracts/temporary-files.js';

/** Files in `directory` (default: the system's), which vanish with the process however it ends: their names are gone as soon as they are open. */
export function localTemporaryFiles(fileSystem: FileSystem, directory: string = tmpdir()): TemporaryFiles {
  return {
    async create() {
      const path = join(directory, `weir-${String(process.pid)}-${randomUUID()}.tmp`);
      const writing = await fileSystem.open(path, 'create');
      let reading: FileHandle;
      try {
        reading = await fileSystem.open(path, 'read');
        await fileSystem.remove(path);
      } catch (error) {
        await writing.close();
        await fileSystem.remove(path).catch(() => undefined);
        throw error;
      }
      return {
        write: (bytes) => writing.write(bytes),
        read: (position, length) => reading.read(position, length),
        async close() {
          await Promise.all([writing.close(), reading.close()]);
        },
      };
    },
  };
}
