import {
  localFileSystem,
  localPath,
  WeirError,
  type FileSystem,
  type Sink,
  type SinkContext,
} from '@weir/core/contracts';
import type { Encoder } from '../format/encoder.js';
import { FileCommitter } from './file-committer.js';
import { FileWriter } from './file-writer.js';
import { OutputFolder, type Occupied } from './output-folder.js';
import type { PreparedFile } from './prepared-file.js';

export interface FileSinkOptions<T> {
  /** The folder that files are written to; created if it is missing. */
  readonly dir: string;
  readonly format: Encoder<T>;
  /** When a file ends and the next one begins, apart from every checkpoint. */
  readonly rolling?:
    | {
        /** Default 128 MiB. */
        readonly maxBytes?: number | undefined;
        /** Milliseconds since its first record. Default one minute. */
        readonly maxAgeMs?: number | undefined;
      }
    | undefined;
  /** Begins the names of the files, and keeps sinks apart that share a folder. Default 'part'. */
  readonly prefix?: string | undefined;
  /** A fresh start keeps the finished files of earlier runs in the folder, and adds to them. */
  readonly append?: boolean | undefined;
  /** A fresh start deletes the finished files of earlier runs in the folder, those with the same prefix. */
  readonly overwrite?: boolean | undefined;
  /** Default: the disk of this machine. */
  readonly fileSystem?: FileSystem | undefined;
}

const DEFAULT_MAX_BYTES = 128 * 1024 * 1024;
const DEFAULT_MAX_AGE_MS = 60_000;

/**
 * Writes records to files that appear, whole and durable, when a checkpoint has completed. Finished files are those without a leading dot.
 * Until then a file is in progress (deleted when its attempt is dead) or pending (deleted when no checkpoint can commit it any more). Finished files
 * may be taken away at any time. The folder itself remembers in `.weir` what was published, and is known by that, wherever it is moved.
 *
 * Without checkpointing a file appears when it is full or old enough, and at the end; a restart then repeats output. A fresh start in a folder with
 * the finished files of an earlier run is SINK_DIRECTORY_OCCUPIED; prepared output that is lost is COMMIT_FAILED.
 */
export function fileSink<T>(options: FileSinkOptions<T>): Sink<T, 'exactly-once', PreparedFile> {
  const { format, prefix = 'part', append = false, overwrite = false, fileSystem = localFileSystem() } = options;
  const dir = localPath(options.dir, 'The dir of a file sink');
  const { maxBytes = DEFAULT_MAX_BYTES, maxAgeMs = DEFAULT_MAX_AGE_MS } = options.rolling ?? {};
  checkOptions({ prefix, append, overwrite, maxBytes, maxAgeMs });
  const occupied: Occupied = append ? 'append' : overwrite ? 'overwrite' : 'refuse';
  const folders = new Map<string, OutputFolder>();
  const folderOf = ({ job, uid }: Pick<SinkContext, 'job' | 'uid'>): OutputFolder => {
    const folder = folders.get(keyOf(job, uid));
    if (folder !== undefined) return folder;
    throw new WeirError(
      'PROTOCOL_VIOLATION',
      `Sink ${uid} of job ${job} was used before it was asked for its destination.`,
    );
  };
  return {
    grade: 'exactly-once',
    destination(context) {
      const folder = new OutputFolder({ fileSystem, dir, prefix, extension: format.extension, occupied }, context);
      folders.set(keyOf(context.job, context.uid), folder);
      return folder.open();
    },
    async prepare(context) {
      const { job, uid, checkpointing, logger } = context;
      await folderOf(context).prepare(context);
      if (checkpointing) return;
      logger.warn(
        { job, sink: uid, dir },
        'no checkpoints are taken: files appear at least once, a restart repeats output',
      );
    },
    async open(context) {
      const startFile = await format.encoder();
      return new FileWriter<T>({ fileSystem, dir, folder: folderOf(context), startFile, maxBytes, maxAgeMs, context });
    },
    committer: (context) => new FileCommitter(fileSystem, dir, folderOf(context)),
    async jobEnded(job, ending) {
      for (const [key, folder] of folders) if (isOf(job, key)) await folder.release(ending);
    },
  };
}

/** One value may be the sink of several places. */
function keyOf(job: string, uid: string): string {
  return JSON.stringify([job, uid]);
}
function isOf(job: string, key: string): boolean {
  return (JSON.parse(key) as readonly string[])[0] === job;
}

interface CheckedOptions {
  readonly prefix: string;
  readonly append: boolean;
  readonly overwrite: boolean;
  readonly maxBytes: number;
  readonly maxAgeMs: number;
}

function checkOptions({ prefix, append, overwrite, maxBytes, maxAgeMs }: CheckedOptions): void {
  if (append && overwrite) {
    throw new WeirError('CONFIG_CONTRADICTION', 'fileSink(): append and overwrite exclude each other.', {
      recoverable: false,
    });
  }
  // 0 could mean "at once" as well as "never": every checkpoint ends a file anyway.
  const problem = !(maxBytes >= 1)
    ? `rolling.maxBytes is ${String(maxBytes)}, but has to be at least 1`
    : !(maxAgeMs >= 1)
      ? `rolling.maxAgeMs is ${String(maxAgeMs)}, but has to be at least 1`
      : !/^[A-Za-z0-9][A-Za-z0-9_.-]*$/.test(prefix)
        ? `prefix is ${JSON.stringify(prefix)}, but has to be letters, digits, and after the first one also _ . -`
        : undefined;
  if (problem !== undefined) throw new WeirError('CONFIG_INVALID', `fileSink(): ${problem}.`, { recoverable: false });
}
