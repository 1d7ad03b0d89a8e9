import type { States } from './declarations.js';

/** What can happen to the state of a key after a capture. */
export interface Change {
  readonly title: string;
  readonly apply: (states: States, i: number) => void;
}

interface Mutable {
  n: number;
  deep: unknown[];
}
const mutable = (i: number): Mutable => ({ n: i, deep: [i] });
/** Changes what user code got from a state, if it can be changed. */
function mutate(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  const held = value as Mutable;
  held.n--;
  held.deep.push('changed later');
}

/** With `large`, one key in five has collections of a size at which a backend may treat them differently. */
export type Size = 'small' | 'large';

/** Something in every state of the i-th key. */
export function fill(states: States, i: number, size: Size): void {
  states.count.update(i);
  states.last.update(mutable(i));
  const elements = size === 'large' && i % 10 < 2 ? 300 : 4;
  for (let j = 0; j < elements; j++) states.items.add(i % 2 === 0 ? j : mutable(j));
  for (let j = 0; j < elements; j++) states.index.set(j, i % 2 === 0 ? j : mutable(j));
}

export const CHANGES: readonly Change[] = [
  {
    title: 'values are updated',
    apply({ count, last }, i) {
      count.update(1000 + i);
      last.update('another');
    },
  },
  {
    title: 'values are cleared',
    apply({ count, last }) {
      count.clear();
      last.clear();
    },
  },
  {
    title: 'values go and come back',
    apply({ count, last }, i) {
      count.clear();
      last.clear();
      count.update(2000 + i);
      last.update(mutable(2000 + i));
    },
  },
  {
    title: 'an object is changed in place',
    apply({ last }) {
      mutate(last.value());
    },
  },
  {
    title: 'an object is changed in place and stored again',
    apply({ last }) {
      const value = last.value();
      mutate(value);
      last.update(value);
    },
  },
  {
    title: 'lists grow',
    apply({ items }, i) {
      for (let j = 0; j < 3; j++) items.add(`added ${String(i)}`);
    },
  },
  {
    title: 'lists are cleared',
    apply({ items }) {
      items.clear();
    },
  },
  {
    title: 'lists are cleared and begin anew',
    apply({ items }, i) {
      items.add('first');
      items.clear();
      items.add(`anew ${String(i)}`);
    },
  },
  {
    title: 'elements of lists are changed in place',
    apply({ items }) {
      for (const value of items.values()) mutate(value);
    },
  },
  {
    title: 'lists grow, and then elements of them are changed in place',
    apply({ items }) {
      items.add(mutable(1));
      for (const value of items.values()) mutate(value);
    },
  },
  {
    title: 'entries of maps are set',
    apply({ index }) {
      index.set(1, 'another');
      index.set('new', 'entry');
    },
  },
  {
    title: 'entries of maps are deleted',
    apply({ index }, i) {
      index.delete(i % 4);
      index.delete('none');
    },
  },
  {
    title: 'all entries of maps are deleted one by one',
    apply({ index }) {
      for (const [key] of [...index.entries()]) index.delete(key);
    },
  },
  {
    title: 'maps are cleared',
    apply({ index }) {
      index.clear();
    },
  },
  {
    title: 'maps are cleared and begin anew',
    apply({ index }) {
      index.set(1, 'touched');
      index.clear();
      index.set(1, 'anew');
    },
  },
  {
    title: 'values of maps are changed in place',
    apply({ index }) {
      mutate(index.get(2));
    },
  },
  {
    title: 'values of maps are changed in place while iterating',
    apply({ index }) {
      for (const [, value] of index.entries()) mutate(value);
    },
  },
];
