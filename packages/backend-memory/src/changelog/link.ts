import type { SectionsHandle } from '@weir/core/contracts';

/** One of the handles that keyed state consists of: the base, or what changed after the link before. */
export interface Link {
  readonly handle: SectionsHandle;
  /** The capture whose state it leads up to. */
  readonly version: number;
  /** How often its rows have been put together with others. */
  readonly level: number;
}

/** Of a link that no other is put together with: a base, and what was restored, as nobody remembers what had changed when. */
export const SEALED: number = Number.POSITIVE_INFINITY;

export function bytesOf({ handle }: Link): number {
  return handle.blob.kind === 'inline' ? handle.blob.bytes.length : handle.blob.length;
}

/** Since when it has to be remembered what has changed, for a checkpoint that begins with `links`: the last of them that stay what they are. */
export function rememberedSince(links: readonly Link[]): number | undefined {
  return links.findLast(({ level }) => level === SEALED)?.version;
}

/** What all of them begin with. */
export function commonLinks(links: readonly Link[], others: readonly (readonly Link[])[]): readonly Link[] {
  const end = links.findIndex(({ handle }, i) => others.some((other) => other[i]?.handle !== handle));
  return end === -1 ? links : links.slice(0, end);
}
