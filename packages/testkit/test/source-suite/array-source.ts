import { staticSplits, WeirError, type Source, type SourceReader, type SplitEnumerator } from '@weir/core/contracts';

/** One thing that this source does wrong. */
export type Fault =
  | 'position before the poll'
  | 'shared position'
  | 'position that is no plain data'
  | 'more than asked for'
  | 'replans on restore'
  | 'forgets what is finished'
  | 'deals twice'
  | 'keeps what is handed back'
  | 'snapshot is alive'
  | 'loses a record when it waits'
  | 'ends and starts again'
  | 'poll outlives close'
  | 'starts at the beginning if the position is gone'
  | 'state is shared between readers';

interface Split {
  readonly id: string;
}
type Position = { next: number };

/** A source of arrays, some of which come only after a wait; right in everything but its fault. */
export function arraySource(
  input: Readonly<Record<string, readonly number[]>>,
  fault?: Fault,
): Source<number, 'replayable', Split, Position> {
  const shared: Position = { next: 0 };
  return {
    grade: 'replayable',
    bounded: true,
    enumerator: () => enumerator(Object.keys(input), fault),
    async open({ id }, position) {
      const records = input[id] ?? [];
      let next = position?.next ?? 0;
      if (next > records.length) {
        if (fault !== 'starts at the beginning if the position is gone')
          throw new WeirError('SOURCE_POSITION_GONE', id);
        next = 0;
      }
      const at = fault === 'shared position' || fault === 'state is shared between readers' ? shared : { next };
      at.next = next;
      return reader(records, at, fault);
    },
  };
}

function reader(records: readonly number[], at: Position, fault: Fault | undefined): SourceReader<number, Position> {
  let polls = 0;
  let before = at.next;
  let closed = false;
  let release: (() => void) | undefined;
  const take = (max: number): readonly number[] | 'end' => {
    if (at.next >= records.length) {
      if (fault === 'ends and starts again') at.next = 0;
      return 'end';
    }
    before = at.next;
    const taken = records.slice(at.next, at.next + max + (fault === 'more than asked for' ? 1 : 0));
    at.next += taken.length;
    return taken;
  };
  return {
    poll(max) {
      polls++;
      if (polls % 3 !== 0) return take(max);
      if (fault === 'loses a record when it waits') at.next++;
      return new Promise((resolve) => {
        release = () => {
          resolve(closed ? [] : take(max));
        };
        queueMicrotask(() => {
          if (!closed) release?.();
        });
      });
    },
    position() {
      if (fault === 'position before the poll') return { next: before };
      if (fault === 'position that is no plain data') return { next: at.next, again: () => at.next } as Position;
      return fault === 'shared position' ? at : { next: at.next };
    },
    close() {
      closed = true;
      if (fault !== 'poll outlives close') release?.();
      return Promise.resolve();
    },
  };
}

function enumerator(ids: readonly string[], fault: Fault | undefined): SplitEnumerator<Split> {
  const inner = staticSplits(ids.map((id) => ({ id })));
  const dealt: Split[] = [];
  return {
    start: (restored) => inner.start(fault === 'replans on restore' ? undefined : restored),
    assign(subtask) {
      const again = fault === 'deals twice' && dealt.length === ids.length ? dealt.shift() : undefined;
      const split = again ?? inner.assign(subtask);
      if (typeof split === 'object') dealt.push(split);
      return split;
    },
    finished(id) {
      if (fault !== 'forgets what is finished') inner.finished(id);
      else inner.handBack([{ id }]);
    },
    handBack(splits) {
      if (fault === 'keeps what is handed back') return;
      inner.onAvailable = this.onAvailable;
      inner.handBack(splits);
    },
    snapshot: () =>
      fault === 'snapshot is alive' ? Object.assign(inner.snapshot() as object, { dealt }) : inner.snapshot(),
    close: () => inner.close(),
  };
}
