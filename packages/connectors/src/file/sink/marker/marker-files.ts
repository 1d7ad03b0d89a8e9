import path from 'node:path';
import { hasCode, type FileSystem } from '@weir/core/contracts';

// What a sink keeps in its output folder, in a hidden folder of its own:
//
//   .weir/
//     destination               the identity of the place, made once
//     owner-<n>-<nonce>         an attempt that writes here, or wrote and died; the largest number has the say
//     trying-<n>-<nonce>        one that has not seen yet whether it may
//     mark-<lineage>.<uid>      up to which checkpoint of the lineage commits of the sink have begun
//     kept-<nonce>              the attempt took a savepoint: its prepared files stay
//     lost-<file>               the file was found missing before anything said that it was published
//
//   .weir.<nonce>.tmp/          not in place yet
//
// Each is whole or not there: written under a temporary name, which ends in .tmp.

export const MARKER = '.weir';

export interface NewFile {
  readonly folder: string;
  readonly name: string;
  readonly content: object;
  /** Tells its temporary name from those of others. */
  readonly nonce: string;
}

/** Puts a JSON file in place of what has its name. Its bytes are durable, its name once the folder is synced. */
export async function putFile(fileSystem: FileSystem, { folder, name, content, nonce }: NewFile): Promise<void> {
  const temporary = path.join(folder, `${name}.${nonce}.tmp`);
  await fileSystem.remove(temporary);
  try {
    const file = await fileSystem.open(temporary, 'create');
    try {
      await file.write(Buffer.from(`${JSON.stringify(content)}\n`));
      await file.sync();
    } finally {
      await file.close();
    }
    await fileSystem.rename(temporary, path.join(folder, name));
  } catch (error) {
    await fileSystem.remove(temporary).catch(() => undefined);
    throw error;
  }
}

/** The fields of a JSON file; none if it is not there or not whole. */
export async function readFields(fileSystem: FileSystem, file: string): Promise<Readonly<Record<string, unknown>>> {
  let bytes: Uint8Array;
  try {
    bytes = await fileSystem.readFile(file);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return {};
    throw error;
  }
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString());
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
