import type { KeyIdentity } from '@weir/core/contracts';

/** A `Map` of this size doubles in a few milliseconds; one of a million keys takes hundreds. */
const SPREAD_FROM = 65_536;
const PARTS = 64;

/** Finds the cell of a key: in one `Map`, which is the fastest, and beyond a size in many, so that none stalls the thread when it grows. */
export class KeyIndex<C> {
  private readonly single = new Map<KeyIdentity, C>();
  private readonly parts: Map<KeyIdentity, C>[] = [];
  private isSpread = false;

  get(identity: KeyIdentity): C | undefined {
    const cell = this.single.get(identity);
    return cell === undefined && this.isSpread ? this.parts[partOf(identity)]!.get(identity) : cell;
  }
  /** What was found under the same identity before is replaced. */
  set(identity: KeyIdentity, cell: C): void {
    if (this.single.size < SPREAD_FROM) {
      this.single.set(identity, cell);
      return;
    }
    if (!this.isSpread) {
      this.isSpread = true;
      for (let i = 0; i < PARTS; i++) this.parts.push(new Map());
    }
    this.parts[partOf(identity)]!.set(identity, cell);
  }
  delete(identity: KeyIdentity): void {
    if (!this.single.delete(identity) && this.isSpread) this.parts[partOf(identity)]!.delete(identity);
  }
  *all(): Iterable<C> {
    yield* this.single.values();
    for (const part of this.parts) yield* part.values();
  }
}

/** Cheap rather than even: a few characters of a string, the integer part of a number. */
function partOf(identity: KeyIdentity): number {
  switch (typeof identity) {
    case 'string': {
      const { length } = identity;
      let sum = length;
      for (let i = Math.max(0, length - 6); i < length; i++) sum = Math.imul(sum, 31) + identity.charCodeAt(i);
      return scatter(sum);
    }
    case 'number':
      return scatter(identity);
    case 'bigint':
      return scatter(Number(BigInt.asIntN(32, identity)));
    default:
      return identity ? 1 : 0;
  }
}

/** The upper six bits of the product with 2^32 / golden ratio (Knuth's multiplicative hashing). */
function scatter(value: number): number {
  return Math.imul(value, 0x9e3779b1) >>> 26;
}
