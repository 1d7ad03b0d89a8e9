import type { FileSystem, ReaderContext } from '@weir/core/contracts';
import { isIoFailure, isWeirError, messageOf, propertyOf, WeirError } from '@weir/core/contracts';

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

/** The bytes of the file are not what its format wants, and will not be the next time either. */
export function undecodable(file: InputFile, problem: string, cause: unknown): WeirError {
  return new WeirError('SOURCE_MALFORMED', `${describe(file)} ${problem}: ${messageOf(cause)}`, {
    cause,
    recoverable: false,
  });
}

/**
 * What a format threw while it read a file, with the file's name: the bytes are at fault, and that comes again, unless the system could not read
 * them, a package is missing, or the reader was closed meanwhile.
 */
export function readingFailure(file: InputFile, error: unknown): unknown {
  if (isWeirError(error) ? error.code !== 'SOURCE_MALFORMED' : isIoFailure(error) || isAbort(error)) return error;
  return undecodable(file, 'cannot be read', error);
}

function isAbort(error: unknown): boolean {
  return propertyOf(error, 'name') === 'AbortError';
}
