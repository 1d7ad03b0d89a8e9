import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const WARM = 1_500;
const CHECKPOINTS = 4_000;
/** What is alive goes up and down by a few with what runs at the moment; one of a kind for each checkpoint would be thousands. */
const FEW = 50;
/** One wait that stays costs 400 bytes: with them it would be more than this. */
const MOST_MEGABYTES = 0.8;

interface Held {
  readonly checkpoints: number;
  readonly promises: number;
  readonly functions: number;
  readonly megabytes: number;
}

test(`an attempt holds after ${String(CHECKPOINTS)} more checkpoints what it held before: promises, listeners, heap`, async () => {
  const script = fileURLToPath(new URL('../dist/checkpoint-often.js', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [script, String(WARM), String(CHECKPOINTS)]);
  const { before, end } = JSON.parse(stdout) as { readonly before: Held; readonly end: Held };
  expect(end.checkpoints - before.checkpoints).toBe(CHECKPOINTS);
  expect(end.promises - before.promises).toBeLessThan(FEW);
  expect(end.functions - before.functions).toBeLessThan(FEW);
  expect(end.megabytes - before.megabytes).toBeLessThan(MOST_MEGABYTES);
}, 120_000);
