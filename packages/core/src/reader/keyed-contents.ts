import type { Serializer } from '../contracts/serializer.js';
import type { OperatorMetadata } from '../contracts/metadata.js';
import type { KeyedStateHandle, NativeStateHandle, RecordedKind, StateMeta } from '../contracts/snapshot.js';
import type { KeyedSection, StateBackend, StateEntry, StoredBytes } from '../contracts/state-backend.js';
import type { RestorePlan } from '../contracts/coordinator.js';
import type { Clock } from '../contracts/clock.js';
import { SILENT } from '../contracts/logger.js';
import type { KeyGroup } from '../element/ids.js';
import { WeirError } from '../errors.js';
import { readingOf } from '../snapshot/unreadable.js';
import { entriesOfSections } from './entries-of-sections.js';
import { keptAs } from './kept-as.js';
import type { KnownSerializers } from './known-serializers.js';
import { NativeGroups, nativeSections } from './native-groups.js';
import { StoredGroups, type GroupReader } from './stored-groups.js';

/** What is needed to read what handles stand for. */
export interface ReadingContext {
  readonly job: string;
  /** The checkpoint, for messages. */
  readonly where: string;
  readonly stored: StoredBytes & Pick<RestorePlan, 'read' | 'readPart'>;
  readonly serializers: KnownSerializers;
  readonly backends: readonly StateBackend[];
  readonly clock: Clock;
}

/** A state of an operator as the newest of its handles describes it. */
export interface DescribedState {
  readonly name: string;
  readonly kind: RecordedKind;
}

/** The keyed state of one operator, one state and key group at a time. At most a key group's is in memory, and what lies beside it on disk. */
export class KeyedContents {
  readonly #operator: OperatorMetadata;
  readonly #context: ReadingContext;
  readonly #handles: readonly KeyedStateHandle[];

  constructor(operator: OperatorMetadata, context: ReadingContext) {
    this.#operator = operator;
    this.#context = context;
    this.#handles = operator.subtasks.flatMap(({ keyed }) => keyed);
  }

  /** The entries of a state in these key groups, in this order; by default in all, ascending. */
  async *entries(name: string, keyGroups?: readonly KeyGroup[]): AsyncGenerator<StateEntry, void, undefined> {
    const what = `state '${name}' of operator '${this.#operator.uid}' in ${this.#context.where}`;
    for await (const { sections, keyGroup } of this.sections(name, keyGroups)) {
      const [first] = sections;
      if (first === undefined) continue;
      const serializer = this.#serializerOf(first.state, what);
      // Entry by entry, so that an error of whoever reads is not taken for one of the bytes.
      const entries = entriesOfSections(sections, serializer);
      for (;;) {
        const next = readingOf(`key group ${String(keyGroup)} of ${what}`, () => entries.next());
        if (next.done === true) break;
        yield next.value;
      }
    }
  }

  /** The sections of a state, key group by key group; those of one group in the order in which they were stored. */
  async *sections(
    name: string,
    keyGroups: readonly KeyGroup[] = Array.from({ length: this.#operator.maxParallelism }, (_, group) => group),
  ): AsyncGenerator<{ readonly keyGroup: KeyGroup; readonly sections: readonly KeyedSection[] }, void, undefined> {
    const readers = this.#handles
      .filter(({ states }) => states.some((state) => state.name === name))
      .map((handle) => this.#readerOf(handle));
    try {
      for (const keyGroup of keyGroups) {
        const sections: KeyedSection[] = [];
        for (const reader of readers) {
          if (keyGroup < reader.range.first || keyGroup > reader.range.last) {
            await reader.rest();
            continue;
          }
          const group = await reader.group(keyGroup);
          for (const section of group?.sections ?? []) if (section.state.name === name) sections.push(section);
        }
        if (sections.length > 0) yield { keyGroup, sections };
      }
    } finally {
      await Promise.all(readers.map((reader) => reader.rest()));
    }
  }

  #readerOf(handle: KeyedStateHandle): GroupReader {
    const { stored, where } = this.#context;
    const { uid } = this.#operator;
    if (handle.format !== 'native')
      return new StoredGroups(handle, stored, `keyed state of operator '${uid}' in ${where}`);
    const backend = this.#backendOf(handle);
    return new NativeGroups(handle, () => nativeSections(backend, handle, this.#scopeOf(handle), stored));
  }

  #backendOf({ engine, engineVersion }: NativeStateHandle): StateBackend {
    const { backends, where } = this.#context;
    const found = backends.find(({ type }) => type === engine);
    if (found !== undefined) return found;
    throw new WeirError(
      'PLUGIN_MISSING',
      `State of operator '${this.#operator.uid}' in ${where} is in the own format of state backend '${engine}' (${engineVersion}). ` +
        `Give that backend to the reader: openCheckpoint(pointer, { storage, backends: [...] }), with what the package of '${engine}' makes (@weir/backend-${engine} if it is one of weir's).`,
      { recoverable: false },
    );
  }

  #scopeOf({ range, states }: NativeStateHandle): Parameters<StateBackend['open']>[0] {
    const { job, clock } = this.#context;
    const { uid, maxParallelism } = this.#operator;
    return {
      job,
      operator: uid,
      subtask: 0,
      keyGroups: range,
      maxParallelism,
      states: states.map(({ name, kind, serializer }) => ({
        name,
        kind: keptAs(kind),
        serializer: this.#context.serializers.orFailing(serializer, `state '${name}' of operator '${uid}'`),
      })),
      clock,
      logger: SILENT,
    };
  }

  #serializerOf({ serializer }: StateMeta, what: string): Serializer {
    return this.#context.serializers.require(serializer, what);
  }
}
