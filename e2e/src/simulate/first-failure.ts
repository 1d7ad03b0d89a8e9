import { simulate } from '@weir/testkit';
import { jobs } from './jobs.js';

export interface Failure {
  readonly seed: number;
  readonly problem: string;
}

/** The first of so many seeds that fails. */
export async function firstFailure(seeds: number): Promise<Failure | undefined> {
  const { failures } = await simulate(jobs, { seeds, mostFailures: 1 });
  const [first] = failures;
  return first?.problem === undefined ? undefined : { seed: first.seed, problem: first.problem };
}
