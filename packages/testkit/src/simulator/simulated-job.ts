import type { Environment, PluginList } from '@weir/core';
import type { Random, Sink, SinkGrade } from '@weir/core/contracts';
import type { StreamOperator } from '@weir/core/operators';

/** What a job that is simulated may use to have more happen to it. Its sources, its state, its storage and its coordinator need nothing. */
export interface Simulation {
  /** The sink, which may now fail in each of its steps, and whose commits may be slow, fail, arrive in part or be answered by an error. */
  readonly sink: <T, K extends SinkGrade, C>(sink: Sink<T, K, C>) => Sink<T, K, C>;
  /** A place between two operators where records may have to wait and a subtask may die. */
  readonly hazard: <T>() => StreamOperator<T, T>;
}

/** One job and the world outside of it, made anew for each run. */
export interface SimulatedJob {
  /**
   * At least a coordinator, a checkpoint storage and, for keyed state, a state backend; called for each process. A storage that is not durable by
   * itself is kept from the first process on, as if it were a server.
   */
  plugins(): PluginList;
  /** A process was killed, and the next is about to start: what does the world outside lose? */
  processDied?(): void;
  /** Of the environment. Several: each process takes one of them, so that the job is rescaled. Default 1. */
  readonly parallelism?: number | readonly number[] | undefined;
  readonly maxParallelism?: number | undefined;
  /** Where the storage can take savepoints to. There the job is asked for some, and now and then stopped with one and started again from it. */
  readonly savepointDirectory?: string | undefined;
  /** Describes the job, the same in each process. What sources read and sinks write must outlive it: make that together with this object. */
  describe(env: Environment, simulation: Simulation): void;
  /** What can be seen outside; asked when the job has finished. Its order does not matter. */
  output(): readonly unknown[];
  /** `exactly-once` (default): the output of a run that never failed. `at-least-once`: no less than that. */
  readonly guarantee?: 'exactly-once' | 'at-least-once' | undefined;
}

/** Makes the job of one seed: called twice for each run, for the run that never fails too, and must make the same both times. */
export type MakeSimulatedJob = (random: Random, seed: number) => SimulatedJob;
