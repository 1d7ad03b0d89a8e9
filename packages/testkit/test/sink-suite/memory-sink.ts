import type {
  CommitMark,
  CommitOutcome,
  Committer,
  Sink,
  SinkGrade,
  SinkWriter,
  SinkWriterContext,
} from '@weir/core/contracts';
import type { BrokenLine, SinkLine } from '../../src/index.js';

/** One thing that this sink does wrong. */
export type Fault =
  | 'shows what is not committed'
  | 'commits twice'
  | 'commits only what it has in memory'
  | 'says that lost output is committed'
  | 'says once that output is lost, and then that it is committed'
  | 'publishes left-overs'
  | 'clears prepared output at the start'
  | 'deletes what a savepoint holds'
  | 'prepares again what was prepared'
  | 'subtasks share a name'
  | 'attempts share a name'
  | 'lineages share a name'
  | 'sinks share a name'
  | 'commits all whose name begins alike'
  | 'loses a batch of one'
  | 'publishes on close'
  | 'fewer outcomes than committables'
  | 'asks for another try for ever'
  | 'payload that is no plain data'
  | 'payload that goes on growing'
  | 'changes the batch'
  | 'publishes piece by piece'
  | 'says committed though it failed'
  | 'says prepared though it failed'
  | 'gives up when the line breaks'
  | 'takes no note'
  | 'takes its note afterwards'
  | 'notes what is only prepared'
  | 'forgets where a lineage came from'
  | 'has no destination'
  | 'is another place each time'
  | 'calls lost what was taken away'
  | 'publishes again what was taken away'
  | 'holds without end'
  | 'forgets to flush'
  | 'writes again what is there';

/** What a sink writes to, and what is left when its process dies. Each thing asked of it is a step at which the line can break. */
export class MemoryPlace {
  readonly visible: number[] = [];
  readonly prepared = new Map<string, readonly number[]>();
  readonly committed = new Set<string>();
  readonly marks = new Map<string, CommitMark>();
  readonly savepoints = new Set<string>();
  readonly lost = new Set<string>();
  readonly open: number[] = [];
  visits = 0;
  #break:
    { readonly nth: number; readonly how: 'fails' | 'dies'; readonly onReached: () => void; count: number } | undefined;

  async ask(): Promise<void> {
    const at = this.#break;
    if (at === undefined) return;
    if (++at.count === at.nth) at.onReached();
    if (at.how === 'dies' && at.count >= at.nth) await new Promise(() => undefined);
    if (at.count === at.nth) throw new Error('the line is broken');
  }

  readonly line: SinkLine = {
    breakAt: (nth, how): BrokenLine => {
      let onReached = (): void => undefined;
      const reached = new Promise<void>((resolve) => {
        onReached = resolve;
      });
      const at = { nth, how, onReached, count: 0 };
      this.#break = at;
      const heal = (): boolean => {
        this.#break = undefined;
        return at.count >= nth;
      };
      return { reached, heal };
    },
  };
}
interface Payload {
  readonly name: string;
  readonly records?: (() => void) | undefined;
  readonly more?: readonly number[] | undefined;
}

/** A writer waits once it holds so many. */
export const MOST_HELD = 10_000;

/** A sink into memory; right in everything but its fault. */
export function memorySink(place: MemoryPlace, fault?: Fault): Sink<number, 'exactly-once', Payload> {
  // What only the process that wrote it knows.
  const mine = new Map<string, readonly number[]>();
  const noted = (lineage: string): number => place.marks.get(lineage)?.checkpointId ?? 0;
  const mark = ({ lineage, checkpointId }: CommitMark): void => {
    if (fault === 'takes no note' || noted(lineage) >= checkpointId) return;
    place.marks.set(lineage, { ...place.marks.get(lineage), lineage, checkpointId });
  };
  /** How far commits had come when this process began. */
  let before = new Map<string, number>();

  const publish = async (name: string, identity: CommitMark): Promise<CommitOutcome> => {
    const { lineage, checkpointId } = identity;
    if (place.committed.has(name) && fault !== 'commits twice') return { kind: 'already-committed' };
    const records = (fault === 'commits only what it has in memory' ? mine : place.prepared).get(name);
    if (records === undefined) {
      const begun = checkpointId > 0 && (before.get(lineage) ?? 0) >= checkpointId;
      if (fault === 'says that lost output is committed' || fault === 'commits only what it has in memory')
        return { kind: 'already-committed' };
      if (fault === 'says once that output is lost, and then that it is committed' && begun)
        return { kind: 'already-committed' };
      return { kind: 'failed', error: new Error(`${name} is lost`) };
    }
    if (fault !== 'takes its note afterwards') {
      await place.ask();
      mark(identity);
    }
    try {
      await place.ask();
    } catch (error) {
      if (fault !== 'says committed though it failed') throw error;
      return { kind: 'committed' };
    }
    const names =
      fault === 'commits all whose name begins alike'
        ? [...place.prepared.keys()].filter((each) => each.startsWith(name) && !place.committed.has(each))
        : [name];
    for (const each of names) {
      const all = place.prepared.get(each) ?? records;
      const half = Math.ceil(all.length / 2);
      place.visible.push(...all.slice(0, half));
      if (fault === 'publishes piece by piece') await place.ask();
      place.visible.push(...all.slice(half));
      place.committed.add(each);
    }
    if (fault === 'takes its note afterwards') {
      await place.ask();
      mark(identity);
    }
    return { kind: 'committed' };
  };

  return {
    grade: 'exactly-once',
    ...(fault === 'has no destination'
      ? {}
      : {
          destination({ lineage, restoredFrom }) {
            before = new Map([...place.marks].map(([key, { checkpointId }]) => [key, checkpointId]));
            const isOther = restoredFrom !== undefined && restoredFrom.lineage !== lineage;
            const from = isOther && fault !== 'forgets where a lineage came from' ? { from: restoredFrom } : {};
            if (!place.marks.has(lineage)) place.marks.set(lineage, { lineage, checkpointId: 0, ...from });
            const id = fault === 'is another place each time' ? String(place.visits++) : 'memory';
            return { id, name: 'memory', committed: [...place.marks.values()] };
          },
        }),
    prepare() {
      if (fault === 'clears prepared output at the start') place.prepared.clear();
      if (fault === 'publishes left-overs') place.visible.push(...place.open);
      if (fault === 'deletes what a savepoint holds')
        for (const name of place.savepoints) if (!place.committed.has(name)) place.prepared.delete(name);
      place.open.length = 0;
    },
    open: (context) => writer(place, mine, context, mark, fault),
    committer: (): Committer<Payload> => ({
      async commit(committables) {
        if (fault === 'asks for another try for ever')
          return committables.map(() => ({ kind: 'retry', error: new Error('not yet') }));
        const outcomes: CommitOutcome[] = [];
        for (const { identity, payload } of committables) {
          const { name } = payload;
          const isGone = !place.committed.has(name) || place.visible.length > 0;
          if (fault === 'calls lost what was taken away' && !isGone)
            outcomes.push({ kind: 'failed', error: new Error(`${name} is not there`) });
          else if (fault === 'publishes again what was taken away' && !isGone) {
            place.visible.push(...(place.prepared.get(name) ?? []));
            outcomes.push({ kind: 'committed' });
          } else
            outcomes.push(
              await publish(name, identity).catch((error: unknown): CommitOutcome => {
                return { kind: fault === 'gives up when the line breaks' ? 'failed' : 'retry', error };
              }),
            );
        }
        return fault === 'fewer outcomes than committables' ? outcomes.slice(1) : outcomes;
      },
    }),
  };
}

function writer(
  place: MemoryPlace,
  mine: Map<string, readonly number[]>,
  { attempt, subtask, uid, lineage, nextBarrier, signal }: SinkWriterContext,
  mark: (mark: CommitMark) => void,
  fault: Fault | undefined,
): SinkWriter<number, Payload> {
  let buffer: number[] = [];
  let sequence = 0;
  const growing: number[] = [];
  return {
    write(batch) {
      if (fault === 'changes the batch') (batch as number[]).reverse();
      if (fault === 'loses a batch of one' && batch.length === 1) return;
      for (const n of batch) {
        buffer.push(n);
        place.open.push(n);
        growing.push(n);
      }
      if (fault === 'shows what is not committed' && buffer.length > 1000) place.visible.push(...batch);
      if (buffer.length >= MOST_HELD && fault !== 'holds without end') return nextBarrier?.(signal);
    },
    async prepareCommit(checkpointId, kind) {
      if (buffer.length === 0) return [];
      const parts = [
        fault === 'lineages share a name' ? '' : lineage,
        fault === 'sinks share a name' ? '' : uid,
        fault === 'attempts share a name' ? 0 : attempt,
        fault === 'subtasks share a name' ? 0 : subtask,
        sequence++,
      ];
      const name = fault === 'commits all whose name begins alike' ? parts.join('/') : JSON.stringify(parts);
      try {
        await place.ask();
        place.prepared.set(name, buffer);
      } catch (error) {
        if (fault !== 'says prepared though it failed') throw error;
      }
      if (kind === 'savepoint') place.savepoints.add(name);
      if (fault === 'notes what is only prepared') mark({ lineage, checkpointId });
      mine.set(name, buffer);
      place.open.length = 0;
      buffer = fault === 'prepares again what was prepared' ? [...buffer] : [];
      return [
        {
          name,
          ...(fault === 'payload that is no plain data' ? { records: () => {} } : {}),
          ...(fault === 'payload that goes on growing' ? { more: growing } : {}),
        },
      ];
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
