import { createFsStorage } from '@weir/backend-fs';
import { createMemoryStateBackend } from '@weir/backend-memory';
import { writeSavepoint } from '@weir/core/state-reader';

/** A savepoint for job `delays` with what was counted elsewhere so far. Gives its path. */
export async function takeOver(totals: ReadonlyMap<string, number>): Promise<string> {
  const { pointer } = await writeSavepoint({
    storage: createFsStorage({ checkpointsDir: './state' }),
    directory: './savepoints',
    backend: createMemoryStateBackend(),
    job: 'delays',
    operators: [
      {
        uid: 'total-by-origin',
        states: { total: { kind: 'value', entries: Array.from(totals, ([key, value]) => ({ key, value })) } },
      },
    ],
  });
  return pointer;
}
