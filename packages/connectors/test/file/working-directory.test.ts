import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createEnvironment } from '@weir/core';
import { SILENT } from '@weir/core/contracts';
import { tap } from '@weir/core/operators';
import { expect, test } from 'vitest';
import { fileSink, fileSource, readCommitted, textLines } from '../../src/file/index.js';

test('a job reads and writes where it was described, wherever the process goes meanwhile', async () => {
  const root = await mkdtemp(path.join(tmpdir(), 'weir-cwd-'));
  const [here, there] = [path.join(root, 'here'), path.join(root, 'there')];
  await mkdir(path.join(here, 'in'), { recursive: true });
  await mkdir(there);
  for (const name of ['a', 'b', 'c']) await writeFile(path.join(here, 'in', name), `${name}\n`);
  const before = process.cwd();
  try {
    process.chdir(here);
    const env = createEnvironment({ logger: SILENT });
    env
      .from(fileSource({ path: 'in', format: textLines() }))
      .pipe(
        tap(() => {
          process.chdir(there);
        }),
      )
      .to(fileSink({ dir: 'out', format: textLines(), rolling: { maxBytes: 1 } }));
    await env.execute('copy');
    expect(await readCommitted(path.join(here, 'out'), textLines())).toEqual(['a', 'b', 'c']);
    expect(await readdir(there)).toEqual([]);
  } finally {
    process.chdir(before);
    await rm(root, { recursive: true });
  }
});
