/** A place in a script where everything dies once. The brand is a string, so that markers of any package that has them fit. */
export interface Crash {
  readonly '~crash': true;
}

const MARKER: Crash = Object.freeze({ '~crash': true });

/** Put between two records: `[1, 2, crash(), 3]`. The first time it is reached the attempt fails and the job restarts; then it is passed over. */
export function crash(): Crash {
  return MARKER;
}

export function isCrash(item: unknown): item is Crash {
  return typeof item === 'object' && item !== null && (item as Partial<Crash>)['~crash'] === true;
}

/** What an attempt fails with at a {@link crash}. */
export class ScriptedCrash extends Error implements Crash {
  readonly '~crash' = true as const;

  constructor(recordsBefore: number) {
    super(`scripted crash after ${String(recordsBefore)} records`);
    this.name = 'ScriptedCrash';
  }
}

/** Whether an error comes from a scripted crash, by itself or somewhere in its causes. */
export function isScriptedCrash(error: unknown): boolean {
  for (let e: unknown = error, depth = 0; depth < 10; e = (e as { readonly cause?: unknown }).cause, depth++) {
    if (isCrash(e)) return true;
    if (typeof e !== 'object' || e === null) return false;
  }
  return false;
}
