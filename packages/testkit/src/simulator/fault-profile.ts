import type { Random } from '@weir/core/contracts';
import type { FaultClass } from './fault-classes.js';

/** Faults that strike an operation with a probability. The others are planned one by one. */
export type ChanceFault = Exclude<FaultClass, 'process-crash' | 'subtask-crash' | 'observer-failure' | 'rescale'>;

/** How hard the world is in one run. */
export interface FaultProfile {
  /** Probability of each fault at each opportunity. */
  readonly rates: Readonly<Record<ChanceFault, number>>;
  /** How often each may strike at most, so that every run comes to its end. */
  readonly most: Readonly<Record<ChanceFault, number>>;
  readonly processCrashes: number;
  readonly subtaskCrashes: number;
}

const RATES: Readonly<Record<ChanceFault, number>> = {
  'storage-failure': 0.02,
  'storage-lost-answer': 0.02,
  'storage-delay': 0.05,
  'commit-failure': 0.3,
  'commit-lost-answer': 0.3,
  'commit-delay': 0.3,
  'never-answers': 0.01,
  'late-message': 0.2,
  'duplicate-message': 0.2,
  'slow-channel': 0.1,
};
const MOST: Readonly<Record<ChanceFault, number>> = {
  'storage-failure': 6,
  'storage-lost-answer': 6,
  'storage-delay': 8,
  'commit-failure': 6,
  'commit-lost-answer': 6,
  'commit-delay': 6,
  'never-answers': 4,
  'late-message': 100,
  'duplicate-message': 50,
  'slow-channel': 100,
};
/** Each fault is absent, rare or frequent, by itself: mixes find more than the same even mix every time (Groce et al., Swarm Testing, 2012). */
const LEVELS = [0, 0.3, 1, 3] as const;
const MOST_CRASHES = 3;

export function drawProfile(random: Random): FaultProfile {
  const rates = { ...RATES };
  for (const name of Object.keys(rates) as ChanceFault[]) rates[name] *= LEVELS[Math.floor(random() * LEVELS.length)]!;
  const processCrashes = 1 + Math.floor(random() * MOST_CRASHES);
  const subtaskCrashes = Math.floor(random() * (MOST_CRASHES + 1));
  return { rates, most: MOST, processCrashes, subtaskCrashes };
}
