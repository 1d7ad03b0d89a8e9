import path from 'node:path';
import { hasCode, makeDurableFolder, WeirError, type FileSystem, type SinkContext } from '@weir/core/contracts';
import { MARKER, putFile, readFields } from './marker-files.js';

const NAME = 'destination';
const FORMAT = 'weir-destination';
const VERSION = 1;

/**
 * The identity of an output folder: kept in it, so it goes where the folder is moved and is found under any path. The first who asks makes it; of
 * several at once only one does.
 */
export async function identityOf(
  fileSystem: FileSystem,
  dir: string,
  nonce: string,
  mint: () => string,
  context: SinkContext,
): Promise<string> {
  await makeDurableFolder(fileSystem, dir);
  const found = (await read(fileSystem, dir, context)) ?? (await make(fileSystem, dir, nonce, mint, context));
  // Who made it may have died before its name was durable.
  await fileSystem.syncDirectory(dir);
  return found;
}

async function make(
  fileSystem: FileSystem,
  dir: string,
  nonce: string,
  mint: () => string,
  context: SinkContext,
): Promise<string> {
  const id = mint();
  // The name inside is durable once marks have been read, before anybody is told the id. A crash before leaves an empty folder, or none.
  const temporary = path.join(dir, `${MARKER}.${nonce}.tmp`);
  await fileSystem.removeTree(temporary);
  await fileSystem.makeDirectory(temporary);
  await putFile(fileSystem, {
    folder: temporary,
    name: NAME,
    content: { format: FORMAT, version: VERSION, id },
    nonce,
  });
  try {
    // Never onto a folder that holds something: whoever comes second fails here.
    await fileSystem.rename(temporary, path.join(dir, MARKER));
    return id;
  } catch (error) {
    await fileSystem.removeTree(temporary).catch(() => undefined);
    const other = await read(fileSystem, dir, context);
    if (other === undefined) throw error;
    return other;
  }
}

async function read(fileSystem: FileSystem, dir: string, { uid, job }: SinkContext): Promise<string | undefined> {
  const folder = path.join(dir, MARKER);
  const { format, version, id } = await readFields(fileSystem, path.join(folder, NAME));
  if (format === FORMAT && version === VERSION && typeof id === 'string' && id !== '') return id;
  try {
    if ((await fileSystem.readDirectory(folder)).length === 0) return undefined;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
  throw new WeirError(
    'SINK_FAILED',
    `Sink ${uid} of job ${job} cannot tell which folder ${dir} is: ${path.join(folder, NAME)} is damaged, missing, or of another version of weir. ` +
      `Put it back, or remove ${folder} to begin with the folder as a new one.`,
    { recoverable: false },
  );
}
