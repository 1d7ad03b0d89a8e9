import type { Random } from '@weir/core/contracts';
import { PHASES, type Phase, type Target } from './phases.js';

export interface Kill {
  readonly target: Target;
  readonly delayMs: number;
  readonly patienceMs: number;
}

/** How often each phase is aimed at; `run` also gets every kill that misses. */
const WEIGHTS: Readonly<Record<Phase, number>> = {
  start: 1,
  restore: 2,
  run: 4,
  capture: 2,
  write: 2,
  publish: 2,
  commit: 2,
  stop: 4,
  finish: 3,
};

const PATIENCE_MS = 4000;

/** The next kill. One in five comes in quick succession: in the very first moments of the process after the one before. */
export function nextKill(random: Random, isFresh: boolean): Kill {
  const isQuick = random() < 0.2;
  const phase = isQuick ? (isFresh || random() < 0.5 ? 'start' : 'restore') : pick(random);
  const isOnce = phase === 'start' || phase === 'restore' || phase === 'stop' || phase === 'finish';
  const nth = isOnce ? 1 : 1 + Math.floor(random() * 6);
  // Long phases are not stopped in: the kill comes anywhere in them.
  const isLong = phase === 'run' || phase === 'start' || phase === 'stop';
  // Every second stop is left time to end, so that there are savepoints to go on from.
  const stopMs = random() < 0.5 ? PATIENCE_MS : random() * 40;
  const delayMs = phase === 'stop' ? stopMs : random() * (isLong ? 120 : 4);
  return { target: { phase, nth, lingerMs: isLong ? 0 : 8 }, delayMs, patienceMs: PATIENCE_MS };
}

function pick(random: Random): Phase {
  let rest = random() * PHASES.reduce((sum, phase) => sum + WEIGHTS[phase], 0);
  for (const phase of PHASES) {
    rest -= WEIGHTS[phase];
    if (rest < 0) return phase;
  }
  return 'run';
}
