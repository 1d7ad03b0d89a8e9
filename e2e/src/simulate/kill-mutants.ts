import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Failure } from './first-failure.js';
import type { Mutant } from './mutant.js';
import { MUTANTS } from './mutants.js';

export interface MutantResult {
  readonly mutant: Mutant;
  /** That killed it; undefined: it survived. */
  readonly seed: number | undefined;
  readonly problem: string;
}

const CHILD = fileURLToPath(new URL('./mutant-child.js', import.meta.url));

/** Searches for each mutant in a process of its own, until a seed finds it. */
export async function killMutants(
  seeds: number,
  only: string | undefined,
  onResult: (result: MutantResult) => void,
): Promise<readonly MutantResult[]> {
  const results: MutantResult[] = [];
  for (const mutant of MUTANTS) {
    if (only !== undefined && mutant.name !== only) continue;
    const failure = await search(mutant, seeds);
    const result = { mutant, seed: failure?.seed, problem: failure?.problem ?? '' };
    results.push(result);
    onResult(result);
  }
  return results;
}

function search({ name }: Mutant, seeds: number): Promise<Failure | undefined> {
  return new Promise((resolve, reject) => {
    const child = fork(CHILD, [name, String(seeds)], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    let answer: { readonly found?: Failure } | undefined;
    child.on('message', (message: { readonly found?: Failure }) => {
      answer = message;
    });
    child.on('exit', (code) => {
      if (answer === undefined) reject(new Error(`the process of mutant '${name}' ended with ${String(code)}`));
      else resolve(answer.found);
    });
  });
}
