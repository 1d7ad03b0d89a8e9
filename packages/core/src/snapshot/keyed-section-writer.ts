import type { BlobWriter } from '../contracts/checkpoint-storage.js';
import type { KeyGroupRange, SectionsHandle, StateMeta } from '../contracts/snapshot.js';
import type { KeyedSection } from '../contracts/state-backend.js';
import { ByteWriter } from '../element/bytes.js';
import type { KeyGroup } from '../element/ids.js';
import { WeirError } from '../errors.js';
import { writeMark, writeSectionHead } from './keyed-sections.js';

export interface KeyedSectionsOptions {
  /** The key groups that the subtask owns. */
  readonly range: KeyGroupRange;
  /** Of the operator when the state was captured; undefined before the first one. */
  readonly watermark: number | undefined;
  /** Called for the first section or mark: an operator without either makes no blob. */
  createBlob(): BlobWriter;
}

/**
 * Streams the sections of one operator's keyed state into a blob, one at a time. Sections come in ascending key groups and are of groups in the
 * range (PROTOCOL_VIOLATION otherwise); those without rows are left out.
 */
export class KeyedSectionWriter {
  readonly #options: KeyedSectionsOptions;
  readonly #head = new ByteWriter(128);
  readonly #states: StateMeta[] = [];
  readonly #stateIds = new Map<string, number>();
  readonly #groups: { keyGroup: KeyGroup; offset: number; length: number }[] = [];
  #blob: BlobWriter | undefined;
  #offset = 0;
  #isBusy = false;

  constructor(options: KeyedSectionsOptions) {
    this.#options = options;
  }

  /** A promise is the blob's back-pressure: the next section must wait for it. */
  section(section: KeyedSection): void | Promise<void> {
    if (this.#isBusy) throw violation(section, 'came before the one before it was taken');
    this.#check(section);
    if (section.count === 0) return;
    const blob = (this.#blob ??= this.#options.createBlob());
    // Stays so after a failure: what the blob then holds is not what the handle would say.
    this.#isBusy = true;
    const headTaken = blob.write(this.#headOf(section));
    const taken = headTaken === undefined ? blob.write(section.rows) : headTaken.then(() => blob.write(section.rows));
    if (taken !== undefined) return taken.then(() => this.#sectionTaken());
    this.#sectionTaken();
  }

  /** Notes the watermark of key groups without state, `first` to `last`, where nothing was written yet. */
  marks(first: KeyGroup, last: KeyGroup): void | Promise<void> {
    if (last < first) return undefined;
    const blob = (this.#blob ??= this.#options.createBlob());
    this.#isBusy = true;
    this.#head.reset();
    for (let keyGroup = first; keyGroup <= last; keyGroup++) {
      const start = this.#head.length;
      writeMark(this.#head, keyGroup, this.#options.watermark);
      const length = this.#head.length - start;
      this.#groups.push({ keyGroup, offset: this.#offset, length });
      this.#offset += length;
    }
    const taken = blob.write(this.#head.view());
    if (taken !== undefined) return taken.then(() => this.#sectionTaken());
    this.#sectionTaken();
  }

  /** Durable when settled; undefined if there was no row and no mark. */
  async finish(): Promise<SectionsHandle | undefined> {
    if (this.#blob === undefined) return undefined;
    if (this.#isBusy) {
      throw new WeirError('PROTOCOL_VIOLATION', 'keyed state was finished before its last section was taken.');
    }
    const blob = await this.#blob.finish();
    return { range: this.#options.range, format: 'canonical', states: this.#states, groups: this.#groups, blob };
  }

  #check(section: KeyedSection): void {
    const { first, last } = this.#options.range;
    const { keyGroup, state } = section;
    if (keyGroup < first || keyGroup > last) throw violation(section, `is outside of the range ${first} to ${last}`);
    const previous = this.#groups.at(-1)?.keyGroup ?? -1;
    if (keyGroup < previous) throw violation(section, `came after key group ${previous}`);
    const known = this.#states[this.#stateIds.get(state.name) ?? -1];
    if (known !== undefined && !isSameState(known, state)) {
      throw violation(section, 'differs in kind or serializer from an earlier one');
    }
  }

  /** Valid until the next section. */
  #headOf(section: KeyedSection): Uint8Array {
    const { keyGroup, state, rows } = section;
    this.#head.reset();
    let group = this.#groups.at(-1);
    if (group?.keyGroup !== keyGroup) {
      group = { keyGroup, offset: this.#offset, length: 0 };
      this.#groups.push(group);
      writeMark(this.#head, keyGroup, this.#options.watermark);
    }
    writeSectionHead(this.#head, section, this.#idOf(state));
    const bytes = this.#head.length + rows.length;
    group.length += bytes;
    this.#offset += bytes;
    return this.#head.view();
  }

  #idOf(state: StateMeta): number {
    let id = this.#stateIds.get(state.name);
    if (id === undefined) {
      const { name, kind, serializer } = state;
      // Only what handles carry: the reference may be the serializer itself, with its functions.
      id = this.#states.push({ name, kind, serializer: { id: serializer.id, version: serializer.version } }) - 1;
      this.#stateIds.set(state.name, id);
    }
    return id;
  }

  #sectionTaken(): void {
    this.#isBusy = false;
  }
}

function isSameState(a: StateMeta, b: StateMeta): boolean {
  return a.kind === b.kind && a.serializer.id === b.serializer.id && a.serializer.version === b.serializer.version;
}

function violation(section: KeyedSection, fault: string): WeirError {
  return new WeirError(
    'PROTOCOL_VIOLATION',
    `a section of state '${section.state.name}' in key group ${section.keyGroup} ${fault}.`,
  );
}
