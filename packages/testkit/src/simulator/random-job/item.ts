/** A record of a random job. The id tells its whole way, so that no two records of a run that never fails have the same unless the graph means it. */
export interface Item {
  readonly id: string;
  readonly key: number;
}

/** A whole number for a text, the same in every run. */
export function numberOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (hash ^ (hash >>> 15)) >>> 0;
}
