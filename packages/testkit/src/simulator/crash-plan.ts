import type { Random } from '@weir/core/contracts';

export type CrashKind = 'process' | 'subtask';
const KINDS: readonly CrashKind[] = ['process', 'subtask'];

/** Longest way from what provokes a crash to the crash. */
const MOST_STEPS = 40;

/**
 * Decides when something dies: some steps after the process began, or after something happened that a crash might tear apart. Until the job has
 * been restored once, one crash is kept for the completion of a checkpoint: what is never restored proves little.
 */
export class CrashPlan {
  readonly #random: Random;
  readonly #left: Record<CrashKind, number>;
  #armed: { readonly kind: CrashKind; readonly isKept: boolean; steps: number } | undefined;
  #hasRestored = false;

  constructor(random: Random, left: Readonly<Record<CrashKind, number>>) {
    this.#random = random;
    this.#left = { ...left };
  }

  /** A process begins that would take about `steps` steps if nothing happened. */
  begun(steps: number): void {
    this.#armed = undefined;
    if (this.#random() < 0.3) this.#arm(KINDS, 1 + Math.floor(this.#random() * steps));
  }
  /** Something has just happened after which a crash is wanted with this probability. */
  provoked(probability: number): void {
    if (this.#random() < probability) this.#arm(KINDS, this.#soon());
  }
  /** A checkpoint is complete. After the final one no subtask does anything any more that could fail. */
  completed(isFinal: boolean): void {
    if (this.#random() >= (this.#hasRestored ? 0.2 : isFinal ? 1 : 0.8)) return;
    this.#arm(
      isFinal ? ['process'] : KINDS,
      isFinal ? Math.floor(this.#soon() / 10) : this.#soon(),
      !this.#hasRestored,
    );
  }
  restored(): void {
    this.#hasRestored = true;
  }

  /** A step is over: what dies now, if anything. */
  stepped(): CrashKind | undefined {
    if (this.#armed === undefined || this.#armed.steps-- > 0) return undefined;
    const { kind } = this.#armed;
    this.#armed = undefined;
    this.#left[kind]--;
    return kind;
  }

  /** Of several the nearest, but nothing takes the place of the one that was kept. */
  #arm(among: readonly CrashKind[], steps: number, isKept = false): void {
    const isFree = isKept || this.#hasRestored || this.#left.process > 1;
    const kinds = among.filter((kind) => this.#left[kind] > 0 && (isFree || kind === 'subtask'));
    const kind = kinds[Math.floor(this.#random() * kinds.length)];
    if (kind === undefined) return;
    if (this.#armed === undefined || isKept || (!this.#armed.isKept && steps < this.#armed.steps))
      this.#armed = { kind, isKept, steps };
  }

  /** Mostly at once, sometimes much later. */
  #soon(): number {
    return Math.floor(this.#random() ** 3 * MOST_STEPS);
  }
}
