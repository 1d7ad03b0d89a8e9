import { causesOf, isWeirError } from '../errors.js';

/** True if anything in the chain of causes is a failed input or output (Flink: any IOException in the chain). */
export function isIoFailure(error: unknown): boolean {
  for (const e of causesOf(error)) {
    if (isWeirError(e, 'STORAGE_FAILED')) return true;
    if (
      typeof (e as { syscall?: unknown }).syscall === 'string' ||
      /^E[A-Z]+$/.test(String((e as { code?: unknown }).code))
    )
      return true;
  }
  return false;
}
