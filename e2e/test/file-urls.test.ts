import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { memoryBackend } from '@weir/backend-memory';
import { checkpointCoordinator } from '@weir/coordinator';
import { createEnvironment } from '@weir/core';
import { SILENT } from '@weir/core/contracts';
import { fileSink, fileSource, jsonLines } from '@weir/connectors/file';
import { afterEach, beforeEach, expect, test } from 'vitest';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'weir-paths-'));
});
afterEach(() => {
  rmSync(dir, { recursive: true, force: true });
});

test('file: URLs are followed by source and sink', async () => {
  writeFileSync(path.join(dir, 'in'), '{"n":1}\nnone\n{"n":2}\n');
  const url = (name: string): string => pathToFileURL(path.join(dir, name)).href;
  const env = createEnvironment({ logger: SILENT, plugins: [checkpointCoordinator(), memoryBackend()] });
  env.enableCheckpointing('1 s');
  env
    .from(
      fileSource({ path: url('in'), format: jsonLines<{ n: number }>(), onMalformed: { skipTo: url('skipped') } }),
      { uid: 'in' },
    )
    .to(fileSink({ dir: url('out'), format: jsonLines() }), { uid: 'out' });
  await env.execute('paths');
  const published = readdirSync(path.join(dir, 'out')).filter((name) => !name.startsWith('.'));
  expect(published.map((name) => readFileSync(path.join(dir, 'out', name), 'utf8')).join('')).toBe(
    '{"n":1}\n{"n":2}\n',
  );
  expect(readdirSync(dir)).toContain('skipped');
});
