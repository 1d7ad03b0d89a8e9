import { causesOf, isWeirError, propertyOf } from './errors.js';

/**
 * What is to be expected of a second try. `transient`: the same may succeed later, so a restart strategy is asked. `permanent`: the same fails
 * again until somebody changes something. `unknown`: nothing in the error says so; bytes that cannot be decoded look like this.
 */
export type FailureClass = 'transient' | 'permanent' | 'unknown';

/** What the system answers for as long as things are as they are: what is there, of what kind, and who may. All other codes may pass. */
const PERMANENT: ReadonlySet<string> = new Set([
  'EACCES',
  'EEXIST',
  'EFBIG',
  'EILSEQ',
  'EINVAL',
  'EISDIR',
  'ELOOP',
  'EMLINK',
  'ENAMETOOLONG',
  'ENODEV',
  'ENOENT',
  'ENOSYS',
  'ENOTDIR',
  'ENOTEMPTY',
  'ENOTSUP',
  'ENXIO',
  'EOPNOTSUPP',
  'EPERM',
  'EROFS',
  'EXDEV',
]);

/**
 * The one place that says whether a failure of anything outside (storage, source, sink, format) passes by itself. An error that says
 * `recoverable: false`, anywhere in its chain of causes, is permanent. Otherwise the outermost error with a code of the system counts (EMFILE,
 * EIO, ENOSPC, ETIMEDOUT and ECONNRESET pass, ENOENT and EACCES do not) or of zlib (damaged input stays damaged); a STORAGE_FAILED without one,
 * and a call that was given up, pass. (Flink: ThrowableClassifier, and any IOException is tried again.)
 */
export function classifyFailure(error: unknown): FailureClass {
  let found: FailureClass = 'unknown';
  for (const e of causesOf(error)) {
    if (propertyOf(e, 'recoverable') === false) return 'permanent';
    if (found === 'unknown') found = classOfCode(e);
  }
  if (found === 'unknown' && hasFailedOutside(error)) return 'transient';
  return found;
}

/** True if anything in the chain of causes is a failed input or output (Flink: any IOException in the chain). */
export function isIoFailure(error: unknown): boolean {
  return hasFailedOutside(error) || [...causesOf(error)].some((e) => systemCodeOf(e) !== undefined);
}

function hasFailedOutside(error: unknown): boolean {
  return [...causesOf(error)].some((e) => isWeirError(e, 'STORAGE_FAILED') || isWeirError(e, 'CALL_TIMED_OUT'));
}

function classOfCode(error: object): FailureClass {
  const code = systemCodeOf(error);
  if (code !== undefined) return PERMANENT.has(code) ? 'permanent' : 'transient';
  const other = propertyOf(error, 'code');
  if (typeof other !== 'string' || !other.startsWith('Z_')) return 'unknown';
  return other === 'Z_MEM_ERROR' ? 'transient' : 'permanent';
}

/** As Node names them: `E` and capitals (`EAI_AGAIN` of a name that could not be looked up, too), but not its own `ERR_`. */
function systemCodeOf(error: object): string | undefined {
  const [code, syscall] = [propertyOf(error, 'code'), propertyOf(error, 'syscall')];
  if (typeof code === 'string' && /^E[A-Z0-9_]+$/.test(code) && !code.startsWith('ERR_')) return code;
  return typeof syscall === 'string' ? 'EUNKNOWN' : undefined;
}
