import { missingMethod } from '../contracts/missing-method.js';
import type { Committer, CommitOutcome, SinkContext, SinkDestination, SinkWriter } from '../contracts/sink.js';
import { WeirError } from '../errors.js';

// What sinks answer is taken for nothing but what the contract names: anything else is a PROTOCOL_VIOLATION that no restart mends.

type Sinks = Pick<SinkContext, 'uid' | 'job'>;

export function checkedDestination(destination: unknown, context: Sinks): SinkDestination {
  const { id, name, committed } = fieldsOf(destination);
  if (!isText(id) || !isText(name) || !Array.isArray(committed) || !committed.every(isMark)) {
    const what =
      destination === undefined
        ? 'has a committer, but does not say where its output is committed (destination)'
        : `says that its output is committed at ${shown(destination)}, which is no id, name and list of marks`;
    throw violation(context, what);
  }
  return destination as SinkDestination;
}

export function checkedWriter<T>(writer: SinkWriter<T>, context: Sinks): SinkWriter<T> {
  return withFunctions(writer, ['write', 'close'], 'writer', context);
}

export function checkedCommitter(committer: Committer, context: Sinks): Committer {
  return withFunctions(committer, ['commit'], 'committer', context);
}

/** Undefined: a sink without that call. */
export function checkedList(list: unknown, call: string, context: Sinks): readonly unknown[] {
  if (list === undefined) return [];
  if (!Array.isArray(list)) throw violation(context, `gave ${shown(list)} from ${call}, and not a list`);
  return list;
}

/** One for each of `count` committables. */
export function checkedOutcomes(outcomes: unknown, count: number, context: Sinks): readonly CommitOutcome[] {
  if (!Array.isArray(outcomes))
    throw violation(context, `gave ${shown(outcomes)} from commit, and not a list of outcomes`);
  if (outcomes.length !== count)
    throw violation(context, `gave ${String(outcomes.length)} outcomes for ${String(count)} committables`);
  // By index: what a list leaves out is no outcome either.
  for (let i = 0; i < count; i++) {
    const outcome: unknown = outcomes[i];
    if (!isOutcome(outcome)) throw violation(context, `gave ${shown(outcome)} from commit, which is no outcome`);
  }
  return outcomes as readonly CommitOutcome[];
}

const KINDS: readonly unknown[] = [
  'committed',
  'already-committed',
  'retry',
  'failed',
] satisfies CommitOutcome['kind'][];

function isOutcome(outcome: unknown): boolean {
  return KINDS.includes(fieldsOf(outcome)['kind']);
}

function isMark(mark: unknown): boolean {
  const { lineage, checkpointId } = fieldsOf(mark);
  return isText(lineage) && Number.isSafeInteger(checkpointId);
}

function withFunctions<T>(plugin: T, names: readonly (string & keyof T)[], what: string, context: Sinks): T {
  const missing = missingMethod(plugin, names);
  if (missing !== undefined) throw violation(context, `gave ${shown(plugin)} for a ${what}: it has no ${missing}`);
  return plugin;
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

function shown(value: unknown): string {
  try {
    const text: unknown = JSON.stringify(value);
    return typeof text === 'string' ? text : typeof value;
  } catch {
    return typeof value;
  }
}

function violation({ uid, job }: Sinks, what: string): WeirError {
  return new WeirError('PROTOCOL_VIOLATION', `Sink ${uid} of job ${job} ${what}.`, { recoverable: false });
}
