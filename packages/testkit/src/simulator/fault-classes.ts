/** What a simulation does to a job. Each must have happened in a search that is to prove anything. */
export const FAULT_CLASSES = [
  /** The process ends between two steps, with everything in it; the next one starts on what was stored. */
  'process-crash',
  /** Code of one subtask throws: a source, a sink, an operator, its state. */
  'subtask-crash',
  'storage-failure',
  /** The storage did what it was asked, but the answer is an error. */
  'storage-lost-answer',
  'storage-delay',
  'commit-failure',
  'commit-lost-answer',
  'commit-delay',
  /** A call to the storage, a source, a sink or the state hangs for ever, before it has done anything or after. */
  'never-answers',
  /** A report of a subtask or a call of the coordinator comes later than it was sent, perhaps after the attempt or the process that sent it. */
  'late-message',
  'duplicate-message',
  /** A source, operator or sink lets the others wait. */
  'slow-channel',
  /** A metrics object or a subscriber to events throws: nobody may notice. */
  'observer-failure',
  /** The job starts again with another parallelism. */
  'rescale',
] as const;

export type FaultClass = (typeof FAULT_CLASSES)[number];
export type FaultCounts = Readonly<Record<FaultClass, number>>;

export function noFaults(): Record<FaultClass, number> {
  return Object.fromEntries(FAULT_CLASSES.map((name) => [name, 0])) as Record<FaultClass, number>;
}
