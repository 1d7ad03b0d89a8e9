import { staticSplits, type Source, type SourceReader } from '@weir/core/contracts';
import { ScriptedCrash } from './crash.js';
import type { Marker, Script } from './script.js';
import { elapsedBefore, isTimeMark } from './time-marks.js';

/** What a script does to the job that reads it. */
export interface ScriptedJob {
  /** Settles when the checkpoint is complete. */
  checkpoint(): Promise<unknown>;
  /** Ends the process as from outside, keeping its checkpoints. */
  stop(): void;
  /** Settles when the job has nothing to do but wait for this source. */
  quiet(): Promise<void>;
  /** Lets time pass until `elapsed` ms after the beginning of the script, and what falls due be done. */
  elapseTo(elapsed: number): Promise<void>;
  /** Back to what it was then. */
  turnTo(elapsed: number): void;
}

/**
 * Hands out the records of a script and carries out its markers, each once, however many attempts read it. One split; the position is the number
 * of records handed out. A crash waits until everything before it has been worked on as far as it goes, and so does time that elapses.
 */
export function scriptedSource<A>(
  { records, markers, pace }: Script<A>,
  job: ScriptedJob,
): Source<A, 'replayable', { readonly id: string }, number> {
  const rest = [...markers];
  /** What will be restored. */
  let checkpointAt = 0;
  const breaks = records.flatMap((item, at) => (isTimeMark(item) && item['~time'] === 'elapse' ? [at] : []));
  const carryOut = async ({ kind, at }: Marker): Promise<readonly never[]> => {
    switch (kind) {
      case 'checkpoint':
        await job.checkpoint();
        checkpointAt = at;
        return [];
      case 'crash':
        await job.quiet();
        job.turnTo(elapsedBefore(records, checkpointAt));
        throw new ScriptedCrash(at);
      case 'stop':
        await job.quiet();
        job.turnTo(elapsedBefore(records, checkpointAt));
        job.stop();
        return [];
    }
  };
  return {
    grade: 'replayable',
    bounded: true,
    enumerator: () => staticSplits([{ id: 'script' }]),
    async open(_split, position = 0): Promise<SourceReader<A, number>> {
      let next = position;
      const take = (count: number): readonly A[] => {
        const taken = Object.freeze(records.slice(next, next + count));
        next += taken.length;
        return taken;
      };
      const give = (most: number): readonly A[] | Promise<readonly A[]> => {
        const elapse = breaks.find((at) => at >= next);
        if (elapse === next) return job.elapseTo(elapsedBefore(records, next + 1)).then(() => take(1));
        if (pace === 'one-by-one') return job.quiet().then(() => take(1));
        return take(elapse === undefined ? most : Math.min(most, elapse - next));
      };
      return {
        poll(max) {
          const [marker] = rest;
          const left = (marker?.at ?? records.length) - next;
          if (left > 0) return give(Math.min(max, left));
          if (marker === undefined) return 'end';
          rest.shift();
          return carryOut(marker);
        },
        position: () => next,
        close: async () => undefined,
      };
    },
  };
}
