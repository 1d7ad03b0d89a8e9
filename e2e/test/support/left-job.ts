import { createEnvironment, type Environment, type PluginList } from '@weir/core';
import { SILENT, staticSplits, type Source } from '@weir/core/contracts';
import { CrashFileSystem, transactionalMemorySink } from '@weir/testkit';
import type { Program } from './catalogue.js';

export interface LeftJobOptions {
  /** Over the disk that they are given. */
  readonly pluginsOn: (disk: CrashFileSystem) => PluginList;
  readonly incremental: boolean;
}

const RECORDS = 30;

/**
 * Programs that run one after the other, as wide as is said: each but the last is left behind a checkpoint that it took when it had read its share of
 * 30 numbers, and the next goes on from that. Gives what was committed, sorted. Before each restore the checkpoint is looked at as by a user: if it is
 * called unfit the start must fail, and otherwise not.
 */
export async function outputOf(
  lives: readonly (readonly [parallelism: number, Program])[],
  { pluginsOn, incremental }: LeftJobOptions,
): Promise<readonly string[]> {
  const disk = new CrashFileSystem();
  const sink = transactionalMemorySink<unknown>();
  let pointer: string | undefined;
  for (const [life, [parallelism, program]] of lives.entries()) {
    const isLast = life === lives.length - 1;
    const { source, isRead } = numbersUpTo(Math.floor((RECORDS * (life + 1)) / lives.length), isLast);
    const describe = (): Environment => {
      const env = createEnvironment({ plugins: pluginsOn(disk), parallelism, logger: SILENT });
      env.enableCheckpointing(undefined, { incremental, externalized: 'retain-on-cancellation' });
      program(env.from(source, { uid: 'numbers', parallelism: 2 }), 'tried').to(sink, { uid: 'out' });
      return env;
    };
    const report = pointer === undefined ? undefined : await describe().checkSavepoint('left', pointer);
    const job = await describe().start('left', { restoreFrom: life === 0 ? 'none' : 'latest' });
    job.events$.subscribe((event) => {
      if (event.kind === 'checkpoint-completed') ({ pointer } = event);
    });
    if (!isLast) {
      await Promise.race([isRead, job.done]);
      await job.triggerCheckpoint();
      await job.cancel();
    }
    await job.done.catch((error: unknown) => {
      throw report?.fits === true
        ? new Error(`it was called fit, and failed: ${String(error)}`, { cause: error })
        : error;
    });
    if (report?.fits === false) throw new Error(`it was called unfit, and ran: ${JSON.stringify(report)}`);
  }
  return sink.visible.map(String).sort();
}

/** Numbers up to before `end`, and then nothing more for now: in two splits, each read in a subtask of its own. */
function numbersUpTo(
  end: number,
  ends: boolean,
): { readonly source: Source<number, 'replayable', { readonly id: string }, number>; readonly isRead: Promise<void> } {
  let read: () => void;
  const isRead = new Promise<void>((resolve) => (read = resolve));
  const waiting = new Set<string>();
  const source: Source<number, 'replayable', { readonly id: string }, number> = {
    grade: 'replayable',
    bounded: true,
    enumerator: () => staticSplits([{ id: '0' }, { id: '1' }]),
    async open({ id }, start = Number(id), { signal }) {
      let next = start;
      return {
        poll() {
          if (next < end) {
            next += 2;
            return [next - 2];
          }
          if (ends) return 'end';
          if (waiting.add(id).size === 2) read();
          return new Promise<readonly number[]>((resolve) => {
            signal.addEventListener('abort', () => resolve([]), { once: true });
          });
        },
        position: () => next,
        close: async () => undefined,
      };
    },
  };
  return { source, isRead };
}
