import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { binaryPath } from './driver.js';

const run = promisify(execFile);

/** What every program below begins with: the addon as it is, without this package and its sources in TypeScript. */
const PRELUDE = `
  const { readdirSync, rmSync } = require('node:fs');
  const path = require('node:path');
  const native = require(${JSON.stringify(binaryPath())});
  const open = (directory, mode = 0, families = ['default']) =>
    native.open(directory, mode, families, [], 1 << 20, 1 << 20, 'none', 10, false);
  const bytes = (text) => Buffer.from(text, 'latin1');
  const put = (db, key, value) => native.put(db, 0, bytes(key), key.length, bytes(value), value.length);
  const get = (db, key) => {
    const out = Buffer.alloc(1000);
    const length = native.getInto(db, 0, bytes(key), key.length, out);
    return length < 0 ? undefined : out.latin1Slice(0, length);
  };
`;

/** A program in plain JavaScript, for a process or thread of its own. */
export function program(body: string): string {
  return `${PRELUDE}\n(async () => {${body}})();`;
}

/** Runs a program in a process of its own and gives what it prints. A crash rejects. */
export async function runProcess(body: string): Promise<string> {
  const { stdout } = await run(process.execPath, ['--expose-gc', '-e', program(body)]);
  return stdout.trim();
}
