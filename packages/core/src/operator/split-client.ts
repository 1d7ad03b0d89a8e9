import type { SourceSplit } from '../contracts/source.js';

/** Where a source subtask gets its splits: the enumerator behind the host. */
export interface SplitClient {
  /** undefined: nothing now, `onAvailable` is called later; 'end': never again. */
  request(): SourceSplit | 'end' | undefined;
  /** A split of the restored checkpoint, which is read on. */
  restored(splitId: string): void;
  finished(splitId: string): void;
  onAvailable: (() => void) | undefined;
}
