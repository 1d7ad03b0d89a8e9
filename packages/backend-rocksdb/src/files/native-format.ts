import { WeirError } from '@weir/core/contracts';
import type { NativeStateHandle } from '@weir/core/contracts';
import { LAYOUT } from '../row-keys.js';

export const ENGINE = 'rocksdb';

/** What a reader of the files must know. */
export function nativeOptions(compression: string, sequence: number): Readonly<Record<string, string>> {
  return {
    layout: LAYOUT,
    'format-version': '5',
    checksum: 'crc32c',
    compression,
    // The rows of lists are numbered from here.
    sequence: String(sequence),
  };
}

export function sequenceOf({ options }: NativeStateHandle): number {
  return Number(options['sequence']);
}

/** A file of rows. All other files of a database describe it, and change from checkpoint to checkpoint. */
export function isRowFile(name: string): boolean {
  return name.endsWith('.sst');
}
/** What a copy of the database does not need. */
export function isLeftOut(name: string): boolean {
  return name === 'LOCK' || name === 'IDENTITY' || name.startsWith('LOG') || name.endsWith('.log');
}

/** Refuses files that this build cannot read, before any is opened. `where` names operator and checkpoint. */
export function requireNativeReadable(handle: NativeStateHandle, libraryVersion: string, where: string): void {
  const fault = faultOf(handle, libraryVersion);
  if (fault === undefined) return;
  throw new WeirError(
    'CHECKPOINT_INCOMPATIBLE',
    `The state of ${where} cannot be read here: ${fault}. Restore it where it was written, and take a savepoint there: any build reads those.`,
    { recoverable: false },
  );
}

function faultOf({ engine, engineVersion, options }: NativeStateHandle, libraryVersion: string): string | undefined {
  if (engine !== ENGINE) return `it is in the format of state backend '${engine}', and this is '${ENGINE}'`;
  if (options['layout'] !== LAYOUT)
    return `its rows are laid out as '${String(options['layout'])}', which is not known`;
  if (options['format-version'] !== '5') return `its table format is ${String(options['format-version'])}, not 5`;
  if (options['checksum'] !== 'crc32c') return `its checksums are ${String(options['checksum'])}, not crc32c`;
  const { compression } = options;
  if (compression !== 'snappy' && compression !== 'none') return `it is compressed by ${String(compression)}`;
  const sequence = Number(options['sequence']);
  if (!Number.isSafeInteger(sequence) || sequence < 1) return `it numbers rows from ${String(options['sequence'])}`;
  if (!(majorOf(engineVersion) <= majorOf(libraryVersion)))
    return `RocksDB ${engineVersion} wrote it, and this is RocksDB ${libraryVersion}`;
  return undefined;
}

/** NaN for what is no version. */
function majorOf(version: string): number {
  return Number(version.split('.')[0]);
}
