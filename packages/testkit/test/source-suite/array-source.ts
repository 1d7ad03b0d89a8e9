import { WeirError, type ReaderContext, type Source, type SourceReader, type SourceSplit } from '@weir/core/contracts';
import { arrayEnumerator, type EnumeratorFault } from './array-enumerator.js';
import { Outside } from './outside.js';

/** One thing that a reader of this source does wrong. */
export type ReaderFault =
  | 'position before the poll'
  | 'position one too far'
  | 'position of what was read ahead'
  | 'shared position'
  | 'position that is no plain data'
  | 'no position before the first record'
  | 'position of the beginning before the first record'
  | 'position moves on when nothing came'
  | 'position of the beginning at the end'
  | 'more than asked for'
  | 'loses a record when it waits'
  | 'gives a record again after it waited'
  | 'ends before the last record'
  | 'ends and starts again'
  | 'poll outlives close'
  | 'poll outlives the abort of its attempt'
  | 'close waits for an input that hangs'
  | 'opening outlives the abort of its attempt'
  | 'throws when it is closed twice'
  | 'takes a failure for the end'
  | 'takes a failure for nothing now'
  | 'passes over what it failed to read'
  | 'opens to an end when its input fails'
  | 'starts at the beginning if the position is gone'
  | 'state is shared between readers'
  | 'place is shared between jobs'
  | 'stays closed for the next attempt'
  | 'ends with the first of its jobs';
export type Fault = ReaderFault | EnumeratorFault;

type Position = { next: number };

/** A source of arrays, some of which come only after a wait for what is outside; right in everything but its fault. */
export function arraySource(
  input: Readonly<Record<string, readonly number[]>>,
  fault?: Fault,
  outside = new Outside(),
): Source<number, 'replayable', SourceSplit, Position> {
  const shared: Position = { next: 0 };
  const places = new Map<string, Position>();
  const owner: Owner = { isClosed: false };
  return {
    grade: 'replayable',
    bounded: true,
    enumerator: () => arrayEnumerator(Object.keys(input), fault),
    async open({ id }, position, { signal }) {
      const records = input[id] ?? [];
      let next = position?.next ?? 0;
      if (next > records.length) {
        if (fault !== 'starts at the beginning if the position is gone')
          throw new WeirError('SOURCE_POSITION_GONE', id);
        next = 0;
      }
      const own = fault === 'place is shared between jobs' ? (places.get(id) ?? { next }) : { next };
      places.set(id, own);
      const at = fault === 'shared position' || fault === 'state is shared between readers' ? shared : own;
      at.next = fault === 'place is shared between jobs' ? own.next : next;
      const reader = new ArrayReader(records, at, { fault, outside, owner, signal });
      const never = new AbortController().signal;
      const waited = fault === 'opening outlives the abort of its attempt' ? never : signal;
      try {
        await outside.call(() => undefined, waited);
      } catch (error) {
        if (fault !== 'opens to an end when its input fails') throw error;
        at.next = records.length;
      }
      return reader;
    },
    jobEnded() {
      if (fault === 'ends with the first of its jobs') owner.isClosed = true;
    },
  };
}

/** What readers of one source have in common, if it does that wrong. */
interface Owner {
  isClosed: boolean;
}
interface Surroundings extends Pick<ReaderContext, 'signal'> {
  readonly fault: Fault | undefined;
  readonly outside: Outside;
  readonly owner: Owner;
}

class ArrayReader implements SourceReader<number, Position> {
  readonly #records: readonly number[];
  readonly #at: Position;
  readonly #surroundings: Surroundings;
  readonly #start: number;
  readonly #closing = new AbortController();
  #before: number;
  #polls = 0;
  #hasFailed = false;
  #outstanding: Promise<unknown> = Promise.resolve();

  constructor(records: readonly number[], at: Position, surroundings: Surroundings) {
    this.#records = records;
    this.#at = at;
    this.#start = at.next;
    this.#before = at.next;
    this.#surroundings = surroundings;
  }

  poll(max: number): readonly number[] | 'end' | Promise<readonly number[] | 'end'> {
    this.#polls++;
    if (this.#surroundings.owner.isClosed) return 'end';
    if (this.#surroundings.fault === 'takes a failure for nothing now' && this.#hasFailed) return [];
    if (this.#polls % 3 !== 0) return this.#take(max);
    const answer = this.#takeAfterWait(max);
    this.#outstanding = answer.catch(() => undefined);
    return answer;
  }

  position(): Position {
    const { next } = this.#at;
    const isFirst = next === this.#start;
    switch (this.#surroundings.fault) {
      case 'position before the poll':
        return { next: this.#before };
      case 'position one too far':
        return { next: Math.min(next + (isFirst ? 0 : 1), this.#records.length) };
      case 'position of what was read ahead':
        return { next: isFirst ? next : Math.min(this.#records.length, Math.ceil(next / 8) * 8) };
      case 'position that is no plain data':
        return { next, again: () => next } as Position;
      case 'no position before the first record':
        return (isFirst ? undefined : { next }) as Position;
      case 'position of the beginning before the first record':
        return isFirst ? { next: 0 } : { next };
      case 'position of the beginning at the end':
        return { next: next === this.#records.length && this.#polls > 1 ? 0 : next };
      case 'shared position':
        return this.#at;
      case 'position moves on when nothing came':
        return { next: Math.min(this.#records.length, next + (this.#before === next && this.#polls > 0 ? 1 : 0)) };
      default:
        return { next };
    }
  }

  async close(): Promise<void> {
    const { fault, owner } = this.#surroundings;
    if (fault === 'throws when it is closed twice' && this.#closing.signal.aborted) throw new Error('closed already');
    if (fault === 'stays closed for the next attempt') owner.isClosed = true;
    if (fault === 'close waits for an input that hangs') await this.#outstanding;
    if (fault !== 'poll outlives close') this.#closing.abort();
  }

  #take(max: number): readonly number[] | 'end' {
    const { fault } = this.#surroundings;
    this.#before = this.#at.next;
    const end = this.#records.length - (fault === 'ends before the last record' && this.#records.length > 1 ? 1 : 0);
    if (this.#at.next >= end) {
      if (fault === 'ends and starts again') this.#at.next = 0;
      return 'end';
    }
    const from = this.#at.next;
    this.#at.next = Math.min(end, from + max + (fault === 'more than asked for' ? 1 : 0));
    return this.#records.slice(from, this.#at.next);
  }

  async #takeAfterWait(max: number): Promise<readonly number[] | 'end'> {
    const { fault, outside, signal } = this.#surroundings;
    const ending = AbortSignal.any([this.#closing.signal, signal]);
    const never = new AbortController().signal;
    if (fault === 'loses a record when it waits') this.#at.next++;
    if (fault === 'gives a record again after it waited') this.#at.next = Math.max(0, this.#at.next - 1);
    try {
      if (fault === 'poll outlives close') await outsideOf(this.#closing, outside, never);
      else if (fault === 'close waits for an input that hangs') await outside.call(() => undefined, never);
      else await outside.call(() => undefined, ending);
    } catch (error) {
      if (fault === 'poll outlives the abort of its attempt' && signal.aborted) await new Promise(() => undefined);
      if (ending.aborted) return [];
      this.#hasFailed = true;
      if (fault === 'takes a failure for the end') return 'end';
      if (fault === 'takes a failure for nothing now') return [];
      if (fault !== 'passes over what it failed to read') throw error;
      this.#at.next++;
      return [];
    }
    // Nothing now, sometimes: ask again.
    if (this.#polls % 6 === 0) {
      this.#before = this.#at.next;
      return [];
    }
    return this.#take(max);
  }
}

/** Waits for longer than until it is closed. */
async function outsideOf(closing: AbortController, outside: Outside, signal: AbortSignal): Promise<void> {
  await outside.call(() => undefined, signal);
  closing.signal.throwIfAborted();
}
