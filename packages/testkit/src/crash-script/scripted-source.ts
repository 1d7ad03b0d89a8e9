import { staticSplits, type Source, type SourceReader } from '@weir/core/contracts';
import { ScriptedCrash } from './crash.js';
import type { Marker, Script } from './script.js';

/** What a script does to the job that reads it. */
export interface ScriptedJob {
  /** Settles when the checkpoint is complete. */
  checkpoint(): Promise<unknown>;
  /** Settles when the job has nothing to do but wait for this source. */
  quiet(): Promise<void>;
}

/**
 * Hands out the records of a script and carries out its markers, each once, however many attempts read it. One split; the position is the number
 * of records handed out. A crash waits until everything before it has been worked on as far as it goes.
 */
export function scriptedSource<A>(
  { records, markers, pace }: Script<A>,
  job: ScriptedJob,
): Source<A, 'replayable', { readonly id: string }, number> {
  const rest = [...markers];
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
      return {
        poll(max) {
          const [marker] = rest;
          const left = (marker?.at ?? records.length) - next;
          if (left > 0) return pace === 'all-at-once' ? take(Math.min(max, left)) : job.quiet().then(() => take(1));
          if (marker === undefined) return 'end';
          rest.shift();
          return carryOut(marker, job);
        },
        position: () => next,
        close: async () => undefined,
      };
    },
  };
}

async function carryOut({ kind, at }: Marker, job: ScriptedJob): Promise<readonly never[]> {
  switch (kind) {
    case 'checkpoint':
      await job.checkpoint();
      return [];
    case 'crash':
      await job.quiet();
      throw new ScriptedCrash(at);
  }
}
