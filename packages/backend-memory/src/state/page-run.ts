import type { Page } from './page.js';

/** Neighbours in a page that a capture comes to: the only one under way, which takes everything. From the last one down, until there are `enough` bytes. */
export interface PageRun {
  readonly page: Page<unknown>;
  readonly from: number;
  /** Where the rest ends: whoever takes them moves it down. */
  to: number;
  readonly enough: number;
}
