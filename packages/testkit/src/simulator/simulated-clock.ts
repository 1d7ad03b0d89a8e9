import type { Clock, Random } from '@weir/core/contracts';
import { realTurn } from '../adapters/real-turn.js';
import type { OutsideWork } from './outside-work.js';

interface Action {
  readonly due: number;
  /** Which of those due at the same time comes first. */
  readonly order: number;
  readonly owner: 'job' | 'world';
  readonly run: () => void;
}

/** Longest time that one look at the clock takes: computing costs time too, so that slices end where chance has it. */
const LONGEST_LOOK_MS = 0.2;
const SHORTEST_LOOK_MS = 0.001;

/**
 * Time of a simulated process, and its only source of steps: a step runs one timer, turn or finished operation, and lets every promise that can
 * settle do so. Which comes next, and how late, is decided by `random`; so a seed is a schedule, and another seed another one.
 */
export class SimulatedClock implements Clock {
  readonly #random: Random;
  readonly #start: number;
  readonly #outside: OutsideWork | undefined;
  #time: number;
  #look = SHORTEST_LOOK_MS;
  #actions: Action[] = [];
  #steps = 0;
  #isDead = false;

  constructor(random: Random, start: number, outside?: OutsideWork) {
    this.#random = random;
    this.#start = start;
    this.#outside = outside;
    this.#time = start;
  }

  now(): number {
    return Math.floor(this.#time);
  }
  monotonic(): number {
    this.#time += this.#look;
    return this.#time - this.#start;
  }
  timer(delayMs: number, action: () => void): () => void {
    // Timers of a busy process are late, never early.
    return this.#add(delayMs + this.#random(), 'job', action);
  }
  nextTurn(action: () => void): () => void {
    const lateness = this.#random();
    return this.#add(lateness < 0.05 ? lateness * 200 : lateness * 0.2, 'job', action);
  }
  /** A timer of the world around the job: it may outlive the job. */
  later(delayMs: number, action: () => void): () => void {
    return this.#add(delayMs, 'world', action);
  }

  /** Steps taken. */
  get steps(): number {
    return this.#steps;
  }
  /** With fractions, and without costing any. */
  get time(): number {
    return this.#time;
  }
  /** What the job still waits for: turns and timers. */
  get pendingOfJob(): number {
    return this.#actions.filter(({ owner }) => owner === 'job').length;
  }

  /** Lets promises settle, then takes the next step if `goesOn`. False: it does not, or there is none. */
  async step(goesOn: () => boolean): Promise<boolean> {
    await realTurn();
    await this.#outside?.settled();
    if (!goesOn()) return false;
    const action = this.#takeNext();
    if (action === undefined) return false;
    this.#steps++;
    this.#time = Math.max(this.#time, action.due);
    this.#look = SHORTEST_LOOK_MS * (LONGEST_LOOK_MS / SHORTEST_LOOK_MS) ** this.#random();
    action.run();
    return true;
  }

  /** The process is no more: nothing that it has planned happens. */
  kill(): void {
    this.#isDead = true;
    this.#actions = [];
  }

  #add(delayMs: number, owner: Action['owner'], run: () => void): () => void {
    if (this.#isDead) return () => undefined;
    const action: Action = { due: this.#time + Math.max(0, delayMs), order: this.#random(), owner, run };
    this.#actions.push(action);
    return () => {
      const at = this.#actions.indexOf(action);
      if (at >= 0) this.#actions.splice(at, 1);
    };
  }

  #takeNext(): Action | undefined {
    let next = 0;
    for (let i = 1; i < this.#actions.length; i++) {
      if (isBefore(this.#actions[i] as Action, this.#actions[next] as Action)) next = i;
    }
    return this.#actions.splice(next, 1)[0];
  }
}

function isBefore(a: Action, b: Action): boolean {
  return a.due < b.due || (a.due === b.due && a.order < b.order);
}
