/**
 * Every error that weir raises, by code. `docs/errors.md` has one section per code; a test keeps the two equal.
 * The text here says in a line when the code is used; the message of an error says what happened, to what, and what to do.
 */
export const ERROR_CODES = {
  // describing a job
  GRAPH_NO_SINK: 'a stream of the job ends nowhere',
  GRAPH_EMPTY: 'a job without any source was started',
  GRAPH_FOREIGN_STREAM: 'streams of two environments were combined',
  GRAPH_DUPLICATE_UID: 'two operators have the same uid',
  GRAPH_INVALID_PARALLELISM: 'a parallelism or maximum parallelism is out of range or does not fit',
  GRAPH_NOT_AN_OPERATOR: 'something that is not a stream operator was given to pipe',
  GRAPH_INVALID_LOOP: 'the body of a loop does not return what goes round and what leaves',
  GRAPH_STARTED: 'a stream was described after the job was started',
  GRAPH_NOT_KEYED: 'a keyed operator was put on a stream without key',
  // configuration and plugins
  CONFIG_UNKNOWN_KEY: 'a configuration key that nobody knows',
  CONFIG_UNSUPPORTED_KEY: 'a key that weir knows but does not support (yet)',
  CONFIG_INVALID: 'a value of the wrong type or out of range',
  CONFIG_CONTRADICTION: 'two settings that exclude each other',
  PLUGIN_INVALID: 'a plugin, its options or its package is malformed',
  PLUGIN_MISSING: 'something needs a plugin that is not installed',
  PLUGIN_AMBIGUOUS: 'several plugins fill one role and none is chosen',
  PLUGIN_CYCLE: 'services that need each other in a circle',
  PLUGIN_DISPOSE: 'one or more services could not be closed',
  // keys, values, state
  KEY_INVALID: 'a key of a type that cannot be a key',
  VALUE_NOT_SERIALIZABLE: 'a value that would not survive a checkpoint',
  SERIALIZER_MISMATCH: 'stored bytes were written by another serializer or version',
  STATE_VERSION_MISMATCH: 'no step leads from the stored version of a state to the declared one',
  STATE_MIGRATION_FAILED: 'a step of a migration threw',
  STATE_SCHEMA_VIOLATED: 'a restored value does not match the schema of its state',
  KEY_TYPE_CHANGED: 'records have keys of another type than the restored state',
  STATE_UNKNOWN: 'a state that the operator does not declare was asked for',
  STATE_NO_KEY: 'keyed state was used outside of a keyed callback',
  STATE_TOO_LARGE: 'a state is larger than the storage takes',
  // running
  RX_REMEMBERS: 'an RxJS operator inside rx() needs more than one record',
  RX_HELD_BACK: 'an RxJS operator inside rx() did not finish synchronously',
  OPERATOR_FAILED: 'user code of an operator threw',
  SOURCE_FAILED: 'a source could not be read',
  SOURCE_POSITION_GONE: 'the stored position does not exist any more',
  SOURCE_OVERFLOW: 'a push source produced more than its buffer holds',
  SOURCE_MALFORMED: 'input that the format cannot decode',
  SINK_FAILED: 'a sink could not write or prepare',
  SINK_DIRECTORY_OCCUPIED: "the output directory holds another lineage's files",
  COMMIT_FAILED: 'a committable could not be committed',
  FEEDBACK_OVERFLOW: 'more records wait in a loop than its memory and disk may hold',
  FEEDBACK_AFTER_END: 'records came back to a loop that had ended',
  BUFFER_OVERFLOW: 'a bounded buffer was asked to hold more than its bound',
  PROTOCOL_VIOLATION: 'a plugin or caller broke the contract it works under',
  CALL_TIMED_OUT: 'a storage, source, sink or state backend did not answer a call in its time',
  CANCELLATION_TIMEOUT: 'the old attempt could not be confirmed dead in time',
  ITERATIONS_REFUSED: 'a job with loops was to take checkpoints, which its settings forbid',
  GUARANTEE_IMPOSSIBLE: 'a claimed guarantee cannot be kept with these sources, sinks and settings',
  CONNECTOR_PEER: 'an optional package that a connector needs is missing or too old',
  JOB_CANCELLED: 'the job was cancelled before it could do what was asked',
  JOB_NOT_RUNNING: 'something was asked of a job that does not run',
  RESTART_SUPPRESSED: 'the restart strategy gave up',
  // checkpoints
  CHECKPOINT_FAILED: 'a checkpoint was aborted; the reason is in the message',
  CHECKPOINT_TOLERANCE_EXCEEDED: 'more consecutive checkpoints failed than are tolerable',
  CHECKPOINT_NONE: 'there is no checkpoint to restore from',
  CHECKPOINT_UNREADABLE: 'a checkpoint is damaged, incomplete or of an unknown format',
  CHECKPOINT_INCOMPATIBLE: 'a checkpoint does not fit the job that should restore it',
  CHECKPOINT_MAX_PARALLELISM:
    'a checkpoint has another maximum parallelism than the job was given, or a lower one than it needs',
  CHECKPOINT_NOT_NEWEST: 'restoring it would repeat output that was already committed',
  SAVEPOINT_NOWHERE: 'a savepoint was asked for, and there is no place to put it',
  STOP_FAILED: 'the savepoint to stop with is complete, but the job did not end as it should',
  STORAGE_FAILED: 'the checkpoint storage could not do what was asked',
  STORAGE_LOCKED: 'another living process runs this job on this directory',
  STORAGE_FENCED: 'this process lost its lock to another one',
  ROCKSDB_UNAVAILABLE: 'RocksDB was chosen, and there is no binary of its driver for this machine',
  ROCKSDB_FAILED: 'RocksDB could not do what was asked',
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;

export interface WeirErrorOptions {
  readonly cause?: unknown;
  /** False: restarting cannot help, so restart strategies are not asked. Default true. */
  readonly recoverable?: boolean | undefined;
}

/** The one error class of weir. Compare by `code`; use {@link isWeirError} rather than `instanceof`, which fails across two copies of core. */
export class WeirError extends Error {
  readonly '~weir' = true as const;
  readonly code: ErrorCode;
  readonly recoverable: boolean;

  constructor(code: ErrorCode, message: string, options: WeirErrorOptions = {}) {
    super(`${code}: ${message}`, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'WeirError';
    this.code = code;
    this.recoverable = options.recoverable ?? true;
  }

  /** What `JSON.stringify` writes: name, code and message, and the same of every cause, whatever was thrown. Stacks are left out. */
  toJSON(): ErrorRecord {
    return recordOf(this, []) as ErrorRecord;
  }
}

/** An error as plain data. */
export interface ErrorRecord {
  readonly name: string;
  readonly code?: string;
  readonly message: string;
  readonly recoverable?: boolean;
  /** An error, or the text of whatever else was thrown. */
  readonly cause?: ErrorRecord | string;
  /** Texts of the errors that an AggregateError holds. */
  readonly errors?: readonly string[];
}

/** Causes of causes that are looked at: a getter may make up another one each time. */
const LONGEST_CHAIN = 100;

/** Whether it carries one of these codes, as errors of Node do. Whatever was thrown. */
export function hasCode(thrown: unknown, ...codes: readonly string[]): boolean {
  const code = propertyOf(thrown, 'code');
  return typeof code === 'string' && codes.includes(code);
}

/**
 * A property of something that was thrown. Whoever threw it may have been anybody: undefined where there is none, and where reading it throws
 * in turn.
 */
export function propertyOf(thrown: unknown, name: string): unknown {
  if (thrown === undefined || thrown === null) return undefined;
  try {
    return (thrown as Record<string, unknown>)[name];
  } catch {
    return undefined;
  }
}

export function isWeirError(error: unknown, code?: ErrorCode): error is WeirError {
  return (
    typeof error === 'object' &&
    propertyOf(error, '~weir') === true &&
    (code === undefined || propertyOf(error, 'code') === code)
  );
}

/** An error and its causes, the outermost first; ends at what is no object, where a chain leads back into itself, and after a hundred. */
export function* causesOf(error: unknown): Generator<object, void, undefined> {
  const seen = new Set<object>();
  for (let e = error; typeof e === 'object' && e !== null && !seen.has(e); e = propertyOf(e, 'cause')) {
    if (seen.size === LONGEST_CHAIN) return;
    seen.add(e);
    yield e;
  }
}

/** False as soon as any error in the chain of causes says that a restart cannot help (Flink: ThrowableClassifier, NonRecoverableError). */
export function isRecoverable(error: unknown): boolean {
  for (const e of causesOf(error)) {
    if (propertyOf(e, 'recoverable') === false) return false;
  }
  return true;
}

/** The text of anything that was thrown, also of what has none, or throws when it is asked for one. Never empty. */
export function messageOf(error: unknown): string {
  if (error === '') return "''";
  if (typeof error !== 'object' || error === null) return textOf(error) ?? typeof error;
  const message = propertyOf(error, 'message');
  if (typeof message === 'string' && message !== '') return message;
  // Node leaves it empty where no address of a host answers: its name and code say more.
  if (message !== undefined) return nameOf(error);
  const text = propertyOf(error, 'stack') === undefined ? textOf(error) : undefined;
  return text ?? nameOf(error);
}

function nameOf(error: unknown): string {
  const [name, code] = [propertyOf(error, 'name'), propertyOf(error, 'code')];
  const known = typeof name === 'string' && name !== '' ? name : '[object Object]';
  return typeof code === 'string' ? `${known} (${code})` : known;
}

function textOf(error: unknown): string | undefined {
  try {
    return String(error);
  } catch {
    return undefined;
  }
}

function recordOf(thrown: unknown, before: readonly unknown[]): ErrorRecord | string {
  const [name, message, code] = ['name', 'message', 'code'].map((property) => propertyOf(thrown, property));
  if (typeof thrown !== 'object' || (typeof name !== 'string' && typeof message !== 'string')) return messageOf(thrown);
  const [recoverable, cause] = [propertyOf(thrown, 'recoverable'), propertyOf(thrown, 'cause')];
  const above = [...before, thrown];
  const isShown = cause !== undefined && !above.includes(cause) && above.length < LONGEST_CHAIN;
  const errors = partsOf(thrown);
  return {
    name: typeof name === 'string' ? name : 'Error',
    ...(typeof code === 'string' ? { code } : {}),
    message: messageOf(thrown),
    ...(typeof recoverable === 'boolean' ? { recoverable } : {}),
    ...(isShown ? { cause: recordOf(cause, above) } : {}),
    ...(errors.length > 0 ? { errors: errors.map(messageOf) } : {}),
  };
}

/** Of an AggregateError. */
function partsOf(thrown: unknown): readonly unknown[] {
  try {
    const errors = propertyOf(thrown, 'errors');
    return Array.isArray(errors) ? Array.from(errors) : [];
  } catch {
    return [];
  }
}

/** What several steps have failed with that all have to be taken, at least one: alone as it is, else the first with all of them as its cause. */
export function together(errors: readonly unknown[]): unknown {
  const [first, ...others] = [...new Set(errors)];
  if (others.length === 0) return first;
  const message = [first, ...others].map(messageOf).join('; and ');
  const cause = new AggregateError([first, ...others], message);
  if (!isWeirError(first)) return cause;
  // The text of an error has its code in front of it.
  return new WeirError(first.code, message.slice(`${first.code}: `.length), {
    cause,
    recoverable: isRecoverable(first),
  });
}
