import { csv, fileSink, fileSource, jsonLines, readCommitted } from '@weir/connectors/file';
import { createEnvironment } from '@weir/core';
import { map } from '@weir/core/operators';

const env = createEnvironment();
env
  .from(fileSource({ path: 'in/*.csv', format: csv({ header: true, columns: ['name', 'born'] }) }))
  .pipe(map(({ name, born }) => ({ name, born: Number(born) })))
  .to(fileSink({ dir: 'out', format: jsonLines(), rolling: { maxBytes: 64 * 2 ** 20 } }));
await env.execute('convert');

for (const person of await readCommitted('out', jsonLines())) console.log(person);
