import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Where local copies of state go that nobody gives a folder. The same after a restart of the process, or they would be of no use to it. */
export function defaultLocalCopies(): string {
  return join(tmpdir(), 'weir-local-state');
}
