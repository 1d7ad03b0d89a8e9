import { typeName } from './type-names.js';

/** Who put a candidate forward. What a job brings along beats what its environment has, and that what is built in. */
export type CandidateLevel = 'job' | 'environment' | 'built-in';

export interface Candidate {
  readonly type: string;
  /** Name of the plugin. */
  readonly plugin: string;
  readonly level: CandidateLevel;
}

export type Selection<C extends Candidate> =
  | { readonly kind: 'one'; readonly candidate: C }
  | { readonly kind: 'none' }
  /** None of the candidates is what was chosen. */
  | { readonly kind: 'not-installed' }
  | { readonly kind: 'several'; readonly candidates: readonly C[] };

/** Which candidate fills a role. `choice` is a type, in any of its spellings, or the name of the package that brings it; a job's own candidates need none. */
export function selectCandidate<C extends Candidate>(
  role: string,
  candidates: readonly C[],
  choice: string | undefined,
): Selection<C> {
  const ofLevel = (wanted: CandidateLevel): readonly C[] => candidates.filter(({ level }) => level === wanted);
  const [nearest = []] = [
    ofLevel('job'),
    ...(['environment', 'built-in'] as const).map((level) =>
      ofLevel(level).filter((candidate) => choice === undefined || isMeant(role, candidate, choice)),
    ),
  ].filter((eligible) => eligible.length > 0);
  const [candidate, ...others] = nearest;
  if (candidate === undefined) return { kind: candidates.length === 0 ? 'none' : 'not-installed' };
  return others.length === 0 ? { kind: 'one', candidate } : { kind: 'several', candidates: nearest };
}

function isMeant(role: string, { type, plugin }: Candidate, choice: string): boolean {
  return typeName(role, type) === typeName(role, choice) || plugin === choice || plugin.startsWith(`${choice}/`);
}
