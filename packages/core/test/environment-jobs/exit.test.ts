import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const PROGRAM = fileURLToPath(new URL('programs/program.mjs', import.meta.url));

/** Runs the program to its own end: nothing in it calls process.exit. */
function run(how: string): Promise<{ code: number | null; stdout: string; stderr: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [PROGRAM, how], { timeout: 30_000, stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    child.on('error', reject);
    child.on('close', (code) => {
      resolve({ code, stdout, stderr });
    });
  });
}

test.each([
  ['finished', 'finished'],
  ['restarted', 'finished'],
  ['cancelled', 'cancelled'],
  ['aborted', 'cancelled'],
])(
  'a program whose job is %s exits by itself with code 0',
  async (how, end) => {
    expect(await run(how)).toMatchObject({ code: 0, stdout: `${end}\n` });
  },
  40_000,
);

test.each(['failed', 'failed-unheard'])(
  'a program whose job has %s exits by itself with another code, and says why',
  async (how) => {
    const { code, stdout, stderr } = await run(how);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('OPERATOR_FAILED: Operator map-1 of job job (subtask 0) failed: poison');
  },
  40_000,
);
