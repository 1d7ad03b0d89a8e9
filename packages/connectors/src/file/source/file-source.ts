import path from 'node:path';
import {
  localFileSystem,
  localPath,
  staticSplits,
  WeirError,
  type FileSystem,
  type Source,
  type SourceReader,
} from '@weir/core/contracts';
import type { Decoder } from '../format/decoder.js';
import { listFiles, locate } from './find-files.js';
import { openGroups } from './group-reader.js';
import { describe, type InputFile } from './input-file.js';
import { MalformedLines } from './malformed-lines.js';
import { openLines } from './open-lines.js';
import type { FilePosition } from './position.js';

export interface FileSourceOptions<T> {
  /**
   * A file, a folder, or a glob with `/` ('logs/**\/*.csv'). A folder is read with all below it, links to files and folders included. Files are
   * listed once, at the start, and read in the order of their names; hidden ones, those that begin with `_`, and those that end with .tmp, .part,
   * .partial or .inprogress are left out. A relative path is one from the working directory that the process has when the source is described.
   */
  readonly path: string;
  readonly format: Decoder<T>;
  /** What happens to input that the format cannot decode: the job fails, or its lines go to a side file and are passed over. Default 'fail'. */
  readonly onMalformed?: 'fail' | { readonly skipTo: string } | undefined;
  /** Default 'auto': gzip if the name ends with .gz. */
  readonly compression?: 'auto' | 'gzip' | 'none' | undefined;
  /** A line that is longer fails the job, in bytes. Default 16 MiB. */
  readonly maxLineBytes?: number | undefined;
  /** Default: the disk of this machine. */
  readonly fileSystem?: FileSystem | undefined;
}
/** One file, by its name relative to the folder that `path` names: other spellings of `path` find it again. */
export interface FileSplit {
  readonly id: string;
}

const DEFAULT_MAX_LINE_BYTES = 16 * 1024 * 1024;

/**
 * Reads files, each of them a split. It goes on exactly where a checkpoint was taken: at a byte of a file of lines, which is sought (but for gzip,
 * which is decompressed again up to it), or at a row of a row group.
 *
 * No file at all, and a link that leads nowhere or around in a circle, is SOURCE_FAILED; a file that is gone or shorter than it was is SOURCE_POSITION_GONE; what cannot be decoded SOURCE_MALFORMED.
 */
export function fileSource<T>(options: FileSourceOptions<T>): Source<T, 'replayable', FileSplit, FilePosition> {
  const {
    format,
    onMalformed = 'fail',
    maxLineBytes = DEFAULT_MAX_LINE_BYTES,
    fileSystem = localFileSystem(),
  } = options;
  checkOptions(options, maxLineBytes);
  const given = localPath(options.path, 'The path of a file source');
  const skipTo =
    onMalformed === 'fail' ? undefined : localPath(onMalformed.skipTo, 'onMalformed.skipTo of a file source');
  return {
    grade: 'replayable',
    bounded: true,
    enumerator: (context) =>
      staticSplits(
        async (restored) => {
          const names = await listFiles(fileSystem, await locate(fileSystem, given), context);
          if (names.length > 0 || restored) return names.map((id) => ({ id }));
          const { job, uid } = context;
          throw new WeirError('SOURCE_FAILED', `Source ${uid} of job ${job}: there are no files at ${options.path}.`, {
            recoverable: false,
          });
        },
        { context },
      ),
    async open({ id }, position, context): Promise<SourceReader<T, FilePosition>> {
      const { root } = await locate(fileSystem, given);
      const file: InputFile = { path: path.join(root, id), fileSystem, gzip: isGzip(options, id), context };
      if (format.kind === 'rows') return openGroups(file, format, positionOf('row', file, position));
      const skipped = skipTo === undefined ? undefined : new MalformedLines(file, skipTo);
      return openLines(file, format, positionOf('byte', file, position), { maxLineBytes, skipped });
    },
  };
}

function isGzip({ compression = 'auto' }: FileSourceOptions<unknown>, name: string): boolean {
  return compression === 'gzip' || (compression === 'auto' && /\.gz$/i.test(name));
}

function positionOf<K extends FilePosition['kind']>(
  kind: K,
  file: InputFile,
  position: FilePosition | undefined,
): Extract<FilePosition, { kind: K }> | undefined {
  if (position === undefined) return undefined;
  // The kind decides which of the two it is.
  if (position.kind === kind) return position as Extract<FilePosition, { kind: K }>;
  throw new WeirError(
    'CHECKPOINT_INCOMPATIBLE',
    `${describe(file)}: the checkpoint was taken while it was read with another kind of format.`,
    { recoverable: false },
  );
}

function checkOptions({ format, compression, onMalformed }: FileSourceOptions<unknown>, maxLineBytes: number): void {
  const problem =
    format.kind === 'rows' && compression === 'gzip'
      ? 'a format of row groups cannot be read from gzip'
      : format.kind === 'rows' && onMalformed !== undefined && onMalformed !== 'fail'
        ? 'onMalformed can skip lines, and the format has none'
        : !Number.isSafeInteger(maxLineBytes) || maxLineBytes < 1
          ? `maxLineBytes is ${String(maxLineBytes)}`
          : undefined;
  if (problem !== undefined) throw new WeirError('CONFIG_INVALID', `fileSource(): ${problem}.`, { recoverable: false });
}
