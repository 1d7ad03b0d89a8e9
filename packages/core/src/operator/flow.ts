/**
 * Whether records may move through a stage right now. An operator that may emit many records for one input asks between two records;
 * if the answer is no, it suspends itself with the rest of its work, and the stage goes on with it before it takes any new input.
 */
export interface Flow {
  /** False: stop between two records and suspend. Looks at the clock: ask after each batch sent, and every few dozen records. */
  isOpen(): boolean;
  /** `resume` is called once the flow is open again; it may suspend again. */
  suspend(resume: () => void): void;
  /**
   * A barrier waits for this stage, which sends without demand meanwhile. An operator that can
   * capture what it is handed, instead of working on it now, should do that, and `hold` it.
   */
  readonly isOverdrawn?: boolean | undefined;
  /** So many records more are held; `release` is called, once, when the barrier has gone on, before any new input comes. */
  hold?(records: number, release: () => void): void;
  /** Nothing moves until `settled` settles; a rejection fails the attempt. What was handed over before stays in order. */
  waitFor(settled: Promise<void>): void;
}

/** The flow of operators that nobody holds back. */
export const OPEN_FLOW: Flow = {
  isOpen: () => true,
  suspend(resume) {
    resume();
  },
  waitFor: () => undefined,
};
