import { isPromiseLike } from '../contracts/awaitable.js';
import { missingOfEnumerator, missingOfReader } from '../contracts/source-methods.js';
import type { SourceContext, SourceReader, SourceSplit, SplitEnumerator } from '../contracts/source.js';
import { isWellFormed } from '../element/well-formed.js';
import { sourceViolation } from './source-context.js';

/** What a source may answer, checked where that costs nothing per record: a wrong answer fails by name, before it becomes lost or repeated records. */

export function checkedEnumerator(context: SourceContext, answer: unknown): SplitEnumerator {
  const missing = missingOfEnumerator(answer);
  // It has every method of one.
  if (missing === undefined) return answer as SplitEnumerator;
  throw sourceViolation(context, undefined, `enumerator() returned ${shown(answer)}, which has no ${missing}()`);
}

/** What `assign` gave. */
export function checkedSplit(context: SourceContext, answer: unknown): SourceSplit | 'end' | undefined {
  if (answer === undefined || answer === 'end') return answer;
  const id = isObject(answer) ? answer['id'] : undefined;
  // An object with a text for id is a split; what else it holds is the source's.
  if (typeof id === 'string' && isWellFormed(id)) return answer as unknown as SourceSplit;
  if (typeof id === 'string')
    throw sourceViolation(
      context,
      undefined,
      `assign() of its enumerator returned a split with the id ${JSON.stringify(id)}, which is no valid Unicode: a checkpoint could not tell it from another`,
    );
  throw sourceViolation(
    context,
    undefined,
    `assign() of its enumerator returned ${shown(answer)}; it is a split with a string as id, 'end', or undefined for nothing now`,
  );
}

/** What `snapshot` gave. Undefined would come back as a first start, which deals every split out again. */
export function checkedSnapshot(context: SourceContext, answer: unknown): unknown {
  if (answer !== undefined && !isPromiseLike(answer)) return answer;
  throw sourceViolation(
    context,
    undefined,
    `snapshot() of its enumerator returned ${shown(answer)}; it is a plain value at once, and what start(restored) needs`,
  );
}

/** What `open` gave. Where only acknowledging frees what is upstream, a reader that cannot do it is none. */
export function checkedReader<T>(
  context: SourceContext,
  split: SourceSplit,
  answer: SourceReader<T>,
  isAcknowledging: boolean,
): SourceReader<T> {
  const missing = missingOfReader(answer);
  if (missing !== undefined)
    throw sourceViolation(context, split, `open() gave ${shown(answer)}, which has no ${missing}()`);
  const { completed } = answer as { readonly completed?: unknown };
  if (completed !== undefined ? typeof completed !== 'function' : isAcknowledging)
    throw sourceViolation(context, split, 'open() of an acknowledging source gave a reader without completed()');
  return answer;
}

/** What a poll brought in the end. */
export function checkedRecords<T>(context: SourceContext, split: SourceSplit, answer: unknown): readonly T[] | 'end' {
  // Of which type the records are is the source's word.
  if (answer === 'end' || Array.isArray(answer)) return answer as readonly T[] | 'end';
  throw sourceViolation(
    context,
    split,
    `poll() gave ${shown(answer)}; it is an array of records, 'end', or a promise of one of them`,
  );
}

/** Where a reader is. Undefined is one that has no positions; one that had any does not lose it, for that would be the beginning. */
export function checkedPosition(context: SourceContext, split: SourceSplit, answer: unknown, before: unknown): unknown {
  if (isPromiseLike(answer))
    throw sourceViolation(context, split, 'position() returned a promise; it is a plain value at once');
  if (answer === undefined && before !== undefined)
    throw sourceViolation(
      context,
      split,
      'position() returned undefined although there was a position before: a reader that was opened at one is there until it has read on',
    );
  return answer;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function shown(value: unknown): string {
  if (isPromiseLike(value)) return 'a promise';
  if (Array.isArray(value)) return 'an array';
  return isObject(value) ? 'an object' : typeof value === 'string' ? JSON.stringify(value) : String(value);
}
