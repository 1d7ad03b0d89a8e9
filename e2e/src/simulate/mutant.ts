/** A defect that is put into the engine on purpose, while it is loaded: a search that does not find it proves nothing. */
export interface Mutant {
  readonly name: string;
  /** Below packages, with neither src or dist nor an ending: `core/host/input-gate`. */
  readonly file: string;
  /** Stands there exactly once; how it is laid out in lines does not matter. */
  readonly find: string;
  readonly replace: string;
}

/** The text with the defect in it. Fails if the place is not there exactly once: the product has changed, and the mutant with it must. */
export function mutate(text: string, { name, file, find, replace }: Mutant): string {
  const place = new RegExp(
    find
      .trim()
      .split(/\s+/)
      .map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('\\s+'),
    'g',
  );
  const found = text.match(place)?.length ?? 0;
  if (found !== 1)
    throw new Error(
      `Mutant '${name}' fits ${String(found)} places of ${file} instead of one: adapt it to what stands there now.`,
    );
  return text.replace(place, () => replace);
}
