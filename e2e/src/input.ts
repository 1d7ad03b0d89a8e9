import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { InputRecord } from './kill-job.js';

export const RECORDS = 3000;
const FILES = 5;
const KEYS = 37;

/** The input of every run: records of 37 keys, dealt out over 5 files, so that every key is in all of them. */
export function writeInput(dir: string): void {
  mkdirSync(join(dir, 'in'), { recursive: true });
  const files = Array.from({ length: FILES }, (): InputRecord[] => []);
  for (let id = 0; id < RECORDS; id++) files[id % FILES]!.push({ id, key: keyOf(id) });
  files.forEach((records, i) => {
    writeFileSync(
      join(dir, 'in', `part-${String(i)}.jsonl`),
      records.map((record) => `${JSON.stringify(record)}\n`).join(''),
    );
  });
}

export function keyOf(id: number): string {
  return `key-${String((id * 7) % KEYS)}`;
}
