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
  /** Where the block of an entry begins, behind a first byte that is nobody's. */
  private readonly starts: number[] = [];
  private dead = 0;

  /** Another key is at `at` from now on. */
  replaced(at: number): void {
    const start = this.starts[at];
    this.starts[at] = NOT_KEPT;
    if (start === undefined || start === NOT_KEPT) return;
    this.dead += this.blocks.blockLength(start);
    if (this.dead > FEW_DEAD && this.dead * 2 > this.blocks.length) this.forget();
  }

  /** Appends the key's block to `out`. `key` is the one at `at`, and is not looked at if its block is kept. */
  write(at: number, key: Key, out: ByteWriter): void {
    const start = this.starts[at]!;
    if (start !== NOT_KEPT) out.copyBlock(this.blocks, start);
    else if (typeof key === 'string' && key.length <= LONGEST_KEPT) out.copyBlock(this.blocks, this.keep(at, key));
    else encodeKeyBlock(key, out);
  }

  private keep(at: number, key: string): number {
    if (this.blocks.length === 0) this.blocks.u8(0);
    const start = this.blocks.length;
    encodeKeyBlock(key, this.blocks);
    return (this.starts[at] = start);
  }

  private forget(): void {
    this.starts.fill(NOT_KEPT);
    this.blocks.reset();
    this.dead = 0;
  }
}
