import type { Committer, Sink, SinkGrade, SinkWriter, SinkWriterContext } from '@weir/core/contracts';

/** One thing that this sink does wrong. */
export type Fault =
  | 'shows what is not committed'
  | 'commits twice'
  | 'commits only what it has in memory'
  | 'says that lost output is committed'
  | 'publishes left-overs'
  | 'clears prepared output at the start'
  | 'prepares again what was prepared'
  | 'subtasks share a name'
  | 'attempts share a name'
  | 'loses a batch of one'
  | 'publishes on close'
  | 'fewer outcomes than committables'
  | 'payload that is no plain data'
  | 'changes the batch'
  | 'forgets to flush'
  | 'writes again what is there';

/** What a sink writes to, and what is left when its process dies. */
export class MemoryPlace {
  readonly visible: number[] = [];
  readonly prepared = new Map<string, readonly number[]>();
  readonly committed = new Set<string>();
  readonly open: number[] = [];
}
interface Payload {
  readonly name: string;
  readonly records?: (() => void) | undefined;
}

/** A sink into memory; right in everything but its fault. */
export function memorySink(place: MemoryPlace, fault?: Fault): Sink<number, 'exactly-once', Payload> {
  // What only the process that wrote it knows.
  const mine = new Map<string, readonly number[]>();
  return {
    grade: 'exactly-once',
    prepare() {
      if (fault === 'clears prepared output at the start') place.prepared.clear();
      if (fault === 'publishes left-overs') place.visible.push(...place.open);
      place.open.length = 0;
    },
    open: (context) => writer(place, mine, context, fault),
    committer: (): Committer<Payload> => ({
      async commit(committables) {
        const outcomes = committables.map(({ payload: { name } }) => {
          if (place.committed.has(name) && fault !== 'commits twice') return { kind: 'already-committed' } as const;
          const records = (fault === 'commits only what it has in memory' ? mine : place.prepared).get(name);
          if (records === undefined) {
            if (fault === 'says that lost output is committed' || fault === 'commits only what it has in memory') {
              return { kind: 'already-committed' } as const;
            }
            return { kind: 'failed', error: new Error(`${name} is lost`) } as const;
          }
          place.visible.push(...records);
          place.committed.add(name);
          return { kind: 'committed' } as const;
        });
        return fault === 'fewer outcomes than committables' ? outcomes.slice(1) : outcomes;
      },
    }),
  };
}

function writer(
  place: MemoryPlace,
  mine: Map<string, readonly number[]>,
  { attempt, subtask }: SinkWriterContext,
  fault: Fault | undefined,
): SinkWriter<number, Payload> {
  let buffer: number[] = [];
  let sequence = 0;
  return {
    write(batch) {
      if (fault === 'changes the batch') (batch as number[]).reverse();
      if (fault === 'loses a batch of one' && batch.length === 1) return;
      buffer.push(...batch);
      place.open.push(...batch);
      if (fault === 'shows what is not committed' && buffer.length > 1000) place.visible.push(...batch);
    },
    prepareCommit() {
      if (buffer.length === 0) return [];
      const name = [
        fault === 'attempts share a name' ? 0 : attempt,
        fault === 'subtasks share a name' ? 0 : subtask,
        sequence++,
      ].join('-');
      place.prepared.set(name, buffer);
      mine.set(name, buffer);
      place.open.length = 0;
      buffer = fault === 'prepares again what was prepared' ? [...buffer] : [];
      return [fault === 'payload that is no plain data' ? { name, records: () => {} } : { name }];
    },
    close() {
      if (fault === 'publishes on close') place.visible.push(...buffer);
      buffer = [];
    },
  };
}

/** A sink whose output is there when it is flushed. */
export function directSink<K extends Exclude<SinkGrade, 'exactly-once'>>(
  place: MemoryPlace,
  grade: K,
  fault?: Fault,
): Sink<number, K> {
  return {
    grade,
    open() {
      let buffer: number[] = [];
      return {
        write(batch) {
          buffer.push(...batch);
        },
        flush() {
          if (fault === 'forgets to flush' && buffer.length < 10) return;
          const isNew = (n: number): boolean => grade !== 'idempotent' || !place.visible.includes(n);
          for (const n of buffer) if (fault === 'writes again what is there' || isNew(n)) place.visible.push(n);
          buffer = [];
        },
        close: () => {},
      };
    },
  };
}
