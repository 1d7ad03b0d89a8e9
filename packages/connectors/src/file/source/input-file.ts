import type { FileSystem, ReaderContext } from '@weir/core/contracts';
import { WeirError } from '@weir/core/contracts';

/** A file that is being read, with all that messages need. */
export interface InputFile {
  readonly path: string;
  readonly fileSystem: FileSystem;
  readonly gzip: boolean;
  readonly context: ReaderContext;
}

/** "Source flights of job delays, file in/a.csv", the beginning of each message. */
export function describe({ path, context: { uid, job } }: InputFile): string {
  return `Source ${uid} of job ${job}, file ${path}`;
}

/** `stored` is what the checkpoint wants, `available` what is there. */
export function positionGone(file: InputFile, stored: string, available: string, cause?: unknown): WeirError {
  return new WeirError(
    'SOURCE_POSITION_GONE',
    `${describe(file)}: the checkpoint goes on at ${stored}, but ${available}. ` +
      'Bring the file back as it was, or restore from a checkpoint that fits it.',
    { cause, recoverable: false },
  );
}

export function malformed(file: InputFile, line: number, reason: string): WeirError {
  return new WeirError('SOURCE_MALFORMED', `${describe(file)}, line ${String(line)} ${reason}.`, {
    recoverable: false,
  });
}

export function isMissing(error: unknown): boolean {
  return (error as { readonly code?: unknown }).code === 'ENOENT';
}
