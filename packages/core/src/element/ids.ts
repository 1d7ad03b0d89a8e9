type Flavour<T, Name extends string> = T & { readonly '~id'?: Name };

/** Grows by one per checkpoint or savepoint of a job, over restarts and processes; the first is 1. */
export type CheckpointId = Flavour<number, 'checkpoint'>;
/** One run of a job between restarts; grows over processes too; the first is 1. */
export type AttemptNumber = Flavour<number, 'attempt'>;
/** Identity of a job in a checkpoint directory. */
export type JobName = Flavour<string, 'job'>;
/** Random id of one line of history of a job: new on a fresh start, kept by every restore of the newest completed checkpoint. */
export type Lineage = Flavour<string, 'lineage'>;
/** Name under which an operator finds its state again. */
export type OperatorUid = Flavour<string, 'operator'>;
/** Number of a key group, 0 to maximum parallelism - 1. */
export type KeyGroup = Flavour<number, 'key-group'>;
/** A stage of the plan, by the uid of its first operator. */
export type StageId = OperatorUid;

/** One parallel instance of a stage. */
export interface SubtaskId {
  readonly stage: StageId;
  readonly index: number;
}

/** A subtask as a map key and in messages. */
export function subtaskName(id: SubtaskId): string {
  return `${id.stage}#${String(id.index)}`;
}
