import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { finishedIn, outputFolders, takenFolders } from './consumer.js';
import { keyOf, RECORDS } from './input.js';
import type { OutputRecord } from './kill-job.js';

export interface Verdict {
  readonly lost: number;
  readonly duplicated: number;
}

/** Holds the final files of a finished run, wherever they are by now, against what must be in them. A line that is not whole is an error. */
export function verify(dir: string): Verdict {
  const seen = new Map<string, number>();
  const folders = [...outputFolders(dir), ...takenFolders(dir)];
  for (const line of folders.flatMap((folder) => finishedIn(folder).flatMap((name) => linesOf(join(folder, name))))) {
    const { id, key, count } = JSON.parse(line) as OutputRecord;
    for (const fact of [`id ${String(id)}`, `count ${key} ${String(count)}`]) seen.set(fact, (seen.get(fact) ?? 0) + 1);
  }
  const expected = new Set<string>();
  const counts = new Map<string, number>();
  for (let id = 0; id < RECORDS; id++) {
    const key = keyOf(id);
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    expected.add(`id ${String(id)}`).add(`count ${key} ${String(count)}`);
  }
  let duplicated = 0;
  for (const [fact, times] of seen) duplicated += expected.has(fact) ? times - 1 : times;
  const lost = [...expected].filter((fact) => !seen.has(fact)).length;
  return { lost, duplicated };
}

function linesOf(path: string): string[] {
  const text = readFileSync(path, 'utf8');
  if (text !== '' && !text.endsWith('\n')) throw new Error(`${path} ends in the middle of a line`);
  return text.split('\n').filter((line) => line !== '');
}
