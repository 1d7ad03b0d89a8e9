import type { ChangeVisitor } from '@weir/core/contracts';

/** For the kinds of rows and changes that a state's sections never have. */
export const UNVISITED: ChangeVisitor = {
  value: () => undefined,
  list: () => undefined,
  append: () => undefined,
  map: () => undefined,
  remove: () => undefined,
  removeEntry: () => undefined,
};
