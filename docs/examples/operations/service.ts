import { fsBackend } from '@weir/backend-fs';
import { fileSink, fileSource, jsonLines } from '@weir/connectors/file';
import { checkpointCoordinator } from '@weir/coordinator';
import { createEnvironment } from '@weir/core';

const shutdown = new AbortController();
process.once('SIGTERM', () => {
  shutdown.abort();
});

const env = createEnvironment({ plugins: [checkpointCoordinator(), fsBackend({ checkpointsDir: './state' })] });
env.enableCheckpointing('10 s');
env
  .from(fileSource({ path: './in', format: jsonLines() }), { uid: 'in' })
  .to(fileSink({ dir: './out', format: jsonLines() }), { uid: 'out' });

const job = await env.start('copy', { signal: shutdown.signal });
console.log(await job.done); // finished, or cancelled after SIGTERM; then the next start resumes
