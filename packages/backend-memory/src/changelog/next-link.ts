import type { Link } from './link.js';
import { bytesOf } from './link.js';

/**
 * So many links of one level become one of the next. Each row is written once per level: with 1 % of the state changing between checkpoints there
 * are two levels, so that a checkpoint costs less than 2 % of a full one, and a restore opens a few dozen files at most.
 */
const MERGED_LINKS = 16;
/** Restored links are never put together. So that restart after restart does not pile them up, there is a new base beyond so many links. */
const MAX_LINKS = 64;

export interface NextLinkInput {
  /** What the checkpoint may consist of. */
  readonly links: readonly Link[];
  /** About how many rows the whole state takes, and what has changed since the last of the links. */
  readonly rows: number;
  readonly changedRows: number;
}
export type NextLink =
  | { readonly kind: 'base' }
  /** The first `kept` links stay, and what has changed since is written as one of this level. */
  | { readonly kind: 'changes'; readonly kept: number; readonly level: number };

/**
 * What the next checkpoint writes. A new base is due once changes take as many bytes as the base: half of what is stored is then out of date at
 * most (a log is cleaned at that ratio in Kafka, too), and a base is paid for by as many bytes of changes. Or at once where most rows have changed.
 */
export function nextLink({ links, rows, changedRows }: NextLinkInput): NextLink {
  const [base, ...changes] = links;
  if (base === undefined || links.length > MAX_LINKS || changedRows * 2 > rows) return { kind: 'base' };
  if (changes.reduce((sum, link) => sum + bytesOf(link), 0) >= bytesOf(base)) return { kind: 'base' };
  let kept = links.length;
  let level = 0;
  // Levels never rise from one link to the next: if the first of these has this level, all of them do.
  while (kept >= MERGED_LINKS && links[kept - MERGED_LINKS + 1]?.level === level) {
    kept -= MERGED_LINKS - 1;
    level++;
  }
  return { kind: 'changes', kept, level };
}
