import type { Serializer } from '../contracts/serializer.js';
import type { ValueStateHandle } from '../contracts/state-backend.js';
import { BATCH_SIZE } from '../element/element.js';
import { copyOfHeld } from '../state/copy-of-held.js';
import type { BatchBuffer } from './batch-buffer.js';
import type { HeldElements } from './held-elements.js';

/** A state of one value that knows by itself what it holds. */
type Holder = Required<Pick<ValueStateHandle, 'holds'>>;

/** So many records wait for the return of a handler, at the most. */
const MOST_HELD: number = 8 * BATCH_SIZE;

/** So many are looked through faster than looked up. */
const FEW = 8;

/**
 * What a handler emits and what state keeps are one object only until the handler returns: whatever is both then is copied, one level deep. For that
 * it knows what state holds of all that the handler could emit, which are the objects that it has read or written since it was called. They are
 * looked at only if an object was emitted. Its fields are private to the compiler only: private names made a record dearer.
 */
export class HeldReferences {
  /** Objects were noted since the handler was called. */
  hasNotes = false;
  private readonly holders: Holder[] = [];
  /** If there is only one. */
  private holder: Holder | undefined;
  private readonly serializersOfHolders: Serializer[] = [];
  /** The first `count` of them. The rest is of earlier calls: emptying an array for each call would be dearer than what it is for. */
  private values: object[] = [];
  private serializers: Serializer[] = [];
  private count = 0;
  private readonly index: Map<object, Serializer> = new Map();
  private indexedCount = 0;
  private readonly collections: HeldElements[] = [];
  /** Plain objects were noted, nobody knows which: copying one is cheaper than knowing. */
  private copiesPlain = false;

  /** To be asked from now on. False: it cannot be asked, so what goes through it is to be noted. */
  addHolder(handle: ValueStateHandle, serializer: Serializer): boolean {
    if (handle.holds === undefined) return false;
    this.holders.push(handle as Holder);
    this.serializersOfHolders.push(serializer);
    this.holder = this.holders.length === 1 ? (handle as Holder) : undefined;
    return true;
  }

  /** State has given it out, or is to keep it. */
  add(value: object, serializer: Serializer): void {
    this.hasNotes = true;
    if (isPlain(value)) {
      this.copiesPlain = true;
      return;
    }
    const place = this.count++;
    this.values[place] = value;
    this.serializers[place] = serializer;
  }

  /** State has given out all of its elements, or may have: each object that is emitted may be one. */
  addAll(elements: HeldElements): void {
    this.hasNotes = this.copiesPlain = elements.isRead = true;
    if (!this.collections.includes(elements)) this.collections.push(elements);
  }

  /**
   * The handler has returned: what it has emitted, the first object of it being at `from`, becomes the consumer's alone, and goes if a batch is full.
   */
  settle<T>(output: BatchBuffer<T>, from: number): void {
    // Most handlers: small enough to be compiled into the loop over records.
    if (output.count === from + 1 && this.holder !== undefined && !this.hasNotes) {
      if (this.holder.holds(output.at(from) as object)) this.settleAll(output, from);
      else if (output.count >= BATCH_SIZE) output.flush();
    } else this.settleAll(output, from);
  }

  private settleAll<T>(output: BatchBuffer<T>, from: number): void {
    const { count } = output;
    for (let place = from; place < count; place++) {
      const record = output.at(place);
      if (typeof record !== 'object' || record === null) continue;
      const serializer = this.serializerOfHolderOf(record) ?? (this.hasNotes ? this.notedFor(record) : undefined);
      if (serializer !== undefined || (this.copiesPlain && isPlain(record)))
        output.replace(place, copied(record, serializer));
    }
    if (count >= BATCH_SIZE) output.flush();
  }

  /**
   * A batch is full. If objects are among what the handler has emitted, they wait for its return. If it has emitted so much that they cannot all wait,
   * they are copied, since what it may still give to state nobody knows. Gives where its first object is now; below 0: there is none.
   */
  makeRoom<T>(output: BatchBuffer<T>, from: number): number {
    const { count } = output;
    if (from >= 0 && count < MOST_HELD) return from;
    for (let place = from < 0 ? count : from; place < count; place++) {
      const record = output.at(place);
      if (typeof record === 'object' && record !== null) output.replace(place, copied(record, this.notedFor(record)));
    }
    output.flush();
    return from < 0 ? from : 0;
  }

  /** Another call begins. */
  forget(): void {
    this.hasNotes = false;
    if (this.count > FEW) {
      this.values = [];
      this.serializers = [];
      this.index.clear();
      this.indexedCount = 0;
    }
    this.count = 0;
    this.copiesPlain = false;
    for (const elements of this.collections) elements.isRead = false;
  }

  private serializerOfHolderOf(value: object): Serializer | undefined {
    const { holders } = this;
    for (let i = 0; i < holders.length; i++)
      if ((holders[i] as Holder).holds(value)) return this.serializersOfHolders[i];
    return undefined;
  }

  /** The serializer of a state that it was read from or written to; undefined if there is none. */
  private notedFor(value: object): Serializer | undefined {
    if (isPlain(value)) return undefined;
    const serializer = this.count > FEW ? this.lookUp(value) : this.lookThrough(value);
    return serializer ?? this.collections.find((elements) => elements.isRead && elements.has(value))?.serializer;
  }

  private lookThrough(value: object): Serializer | undefined {
    for (let i = 0; i < this.count; i++) if (this.values[i] === value) return this.serializers[i];
    return undefined;
  }

  private lookUp(value: object): Serializer | undefined {
    for (let i = this.indexedCount; i < this.count; i++)
      this.index.set(this.values[i] as object, this.serializers[i] as Serializer);
    this.indexedCount = this.count;
    return this.index.get(value);
  }
}

/** Asking like this is cheaper than asking for the prototype; which it is, is seen when it is copied. */
function isPlain(value: object): boolean {
  return value.constructor === Object;
}

function copied<T>(record: T & object, serializer: Serializer | undefined): T {
  // A copy is of the same type.
  return copyOfHeld(record, serializer) as T;
}
