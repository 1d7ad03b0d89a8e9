import { rocksBackend } from '@weir/backend-rocksdb';
import { collected, collection, crash } from '@weir/connectors/collection';
import { checkpointCoordinator } from '@weir/coordinator';
import { createEnvironment } from '@weir/core';
import { keyBy, keyedProcess, mapState, type Emit } from '@weir/core/operators';
import { fixedDelayRestart } from '@weir/restart-strategies';

const out = collected<string>();
const env = createEnvironment({
  plugins: [
    checkpointCoordinator(),
    rocksBackend({ checkpointsDir: './state', cacheSize: '16 mb' }),
    fixedDelayRestart({ attempts: 1, delay: 0 }),
  ],
});
env.enableCheckpointing('10 ms', { incremental: true });
env
  .from(collection(['ada:a', 'joe:b', crash(), 'ada:c', 'ada:a']), { uid: 'clicks' })
  .pipe(
    keyBy((click) => click.split(':')[0] ?? ''),
    keyedProcess({
      uid: 'pages',
      // Read and written entry by entry, however many there are.
      state: { pages: mapState<string, number>() },
      onRecord(click, { key, state: { pages } }, emit: Emit<string>) {
        const page = click.split(':')[1] ?? '';
        pages.set(page, (pages.get(page) ?? 0) + 1);
        emit(`${key} has seen ${page} ${String(pages.get(page))} times`);
      },
    }),
  )
  .to(out.sink, { uid: 'out', guarantee: 'exactly-once' });

await env.execute('pages');
console.log(out.records.at(-1));
