import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FileSystem } from '@weir/core/contracts';

const ROOT = fileURLToPath(new URL('../golden', import.meta.url));

/** Checkpoints as they were first stored, one folder each, and what was visible before it: they are read for ever, so none is ever written again. */
export interface Golden {
  readonly name: string;
  readonly exists: boolean;
  /** Puts its files into `folder`. */
  load(fileSystem: FileSystem, folder: string): Promise<void>;
  /** Stores what is in `folder`. */
  store(fileSystem: FileSystem, folder: string, committed: readonly string[]): Promise<void>;
  /** Lines that the job had made visible for good. */
  committed(): readonly string[];
}

export function golden(name: string): Golden {
  const place = join(ROOT, name);
  const list = join(place, 'committed.txt');
  return {
    name,
    exists: existsSync(place),
    async load(fileSystem, folder) {
      const files = readdirSync(join(place, 'state'), { recursive: true, withFileTypes: true });
      for (const file of files.filter((entry) => entry.isFile())) {
        const path = join(file.parentPath, file.name);
        await put(fileSystem, join(folder, path.slice(join(place, 'state').length)), readFileSync(path));
      }
    },
    async store(fileSystem, folder, committed) {
      if (existsSync(place))
        throw new Error(`${place} exists, and is never written again: a new format gets a new name`);
      for (const [path, bytes] of await filesBelow(fileSystem, folder)) {
        const target = join(place, 'state', path.slice(folder.length));
        mkdirSync(dirname(target), { recursive: true });
        writeFileSync(target, bytes);
      }
      writeFileSync(list, committed.map((line) => `${line}\n`).join(''));
    },
    committed: () => readFileSync(list, 'utf8').split('\n').slice(0, -1),
  };
}

/** Path and content of each. */
export async function filesBelow(
  fileSystem: FileSystem,
  folder: string,
): Promise<readonly (readonly [string, Uint8Array])[]> {
  const files: (readonly [string, Uint8Array])[] = [];
  for (const { name, kind } of await fileSystem.readDirectory(folder)) {
    const path = join(folder, name);
    if (kind === 'directory') files.push(...(await filesBelow(fileSystem, path)));
    else files.push([path, await fileSystem.readFile(path)]);
  }
  return files;
}

/** Writes a file, and the folders above it. */
export async function put(fileSystem: FileSystem, path: string, bytes: Uint8Array): Promise<void> {
  const folders = dirname(path).split('/').slice(1);
  for (let depth = 1; depth <= folders.length; depth++) {
    await fileSystem.makeDirectory(`/${folders.slice(0, depth).join('/')}`);
  }
  const file = await fileSystem.open(path, 'create');
  await file.write(bytes);
  await file.sync();
  await file.close();
}
