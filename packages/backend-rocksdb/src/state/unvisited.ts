import type { RowVisitor } from '@weir/core/contracts';

/** For the kinds of rows that a state's sections never have. */
export const UNVISITED: RowVisitor = {
  value: () => undefined,
  list: () => undefined,
  map: () => undefined,
};
