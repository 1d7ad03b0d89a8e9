import { ByteWriter, encodeKeyBlock } from '@weir/core/contracts';
import type { Key } from '@weir/core/contracts';

/** So many units have a block whose length takes one byte. */
const LONGEST_KEPT = 42;
/** Fewer dead bytes are not worth encoding the others again. */
const FEW_DEAD = 4096;
const NOT_KEPT = 0;

/**
 * Keys of a page as captures write them. Texts are kept encoded, one after the other, from the first capture on: to read each where it lies in
 * memory is most of what a capture of small values would cost.
 */
export class KeyBlocks {
  private blocks: ByteWriter = new ByteWriter(0);
  /** Where the block of an entry begins, behind a first byte that is nobody's. As long as it has to be. */
  private starts: number[] = [];
  private dead = 0;

  /** Another key is at `at` from now on. */
  replaced(at: number): void {
    const start = this.startOf(at);
    if (start === NOT_KEPT) return;
    this.starts[at] = NOT_KEPT;
    this.dead += this.blocks.blockLength(start);
    if (this.dead > FEW_DEAD && this.dead * 2 > this.blocks.length) this.forget();
  }

  /** Appends the block of the key at `at` to `out`. The key is not looked at if its block is kept. */
  write(at: number, keys: readonly Key[], out: ByteWriter): void {
    const start = this.startOf(at);
    if (start !== NOT_KEPT) {
      out.copyBlock(this.blocks, start);
      return;
    }
    const key = keys[at]!;
    if (typeof key === 'string' && key.length <= LONGEST_KEPT) out.copyBlock(this.blocks, this.keep(at, key));
    else encodeKeyBlock(key, out);
  }

  /** Keeps nothing of what is there. */
  forget(): void {
    if (this.starts.length === 0) return;
    this.blocks = new ByteWriter(0);
    this.starts = [];
    this.dead = 0;
  }

  private startOf(at: number): number {
    return at < this.starts.length ? this.starts[at]! : NOT_KEPT;
  }
  private keep(at: number, key: string): number {
    if (this.blocks.length === 0) this.blocks.u8(0);
    const start = this.blocks.length;
    encodeKeyBlock(key, this.blocks);
    while (this.starts.length < at) this.starts.push(NOT_KEPT);
    return (this.starts[at] = start);
  }
}
