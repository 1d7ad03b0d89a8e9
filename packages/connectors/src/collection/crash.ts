/** A place between two records where the attempt fails once. The brand is a string, so that markers of every package that has them fit. */
export interface Crash {
  readonly '~crash': true;
}

const MARKER: Crash = Object.freeze({ '~crash': true });

/** For tests, between two records: `collection([1, 2, crash(), 3])` fails once before 3, and is passed over after the restart. */
export function crash(): Crash {
  return MARKER;
}

export function isCrash(value: unknown): value is Crash {
  return typeof value === 'object' && value !== null && (value as Partial<Crash>)['~crash'] === true;
}

/** What a {@link crash} fails with. */
export class CollectionCrash extends Error implements Crash {
  readonly '~crash' = true as const;

  constructor(index: number) {
    super(`crash marker at index ${String(index)} of the collection`);
    this.name = 'CollectionCrash';
  }
}
