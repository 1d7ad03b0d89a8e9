import type { Page } from './page.js';

/** Neighbours in a page that a capture comes to: the only one under way, which takes everything. From the last one down, until there are `enough` bytes. */
export interface PageRun {
  readonly page: Page<unknown>;
  readonly from: number;
  /** Where the rest ends: whoever takes them moves it down, to 0 once the whole page is taken. */
  to: number;
  readonly enough: number;
}
