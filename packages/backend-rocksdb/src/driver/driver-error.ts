import { messageOf, WeirError } from '@weir/core/contracts';
import type { NativeError } from './native-binding.js';

/** What the addon threw while `doing` something to the database in `directory`, as the error that leaves the driver. */
export function driverError(error: unknown, doing: string, directory: string): WeirError {
  const reason = messageOf(error);
  const { code } = error as Partial<NativeError>;
  switch (code) {
    case 'ARGUMENT':
      return new WeirError('PROTOCOL_VIOLATION', `RocksDB in ${directory}: ${doing} was asked for with ${reason}.`, {
        cause: error,
      });
    case 'CLOSED':
      return new WeirError('PROTOCOL_VIOLATION', `RocksDB in ${directory}: ${doing} was asked for, but ${reason}.`, {
        cause: error,
      });
    default:
      return new WeirError('ROCKSDB_FAILED', `RocksDB in ${directory} failed at ${doing}: ${reason}.`, {
        cause: error,
      });
  }
}
