import { memoryBackend } from '@weir/backend-memory';
import { collected, collection } from '@weir/connectors/collection';
import { createEnvironment } from '@weir/core';
import { flatMap, keyBy, keyedProcess, valueState, type Emit } from '@weir/core/operators';

const out = collected<string>();
const env = createEnvironment({ plugins: [memoryBackend()] });
env
  .from(collection(['to be', 'or not to be']))
  .pipe(
    flatMap((line) => line.split(' ')),
    keyBy((word) => word),
    keyedProcess({
      uid: 'count',
      state: { count: valueState({ initial: () => 0 }) },
      onRecord(word, { state: { count } }, emit: Emit<string>) {
        count.update(count.value() + 1);
        emit(`${word} ${String(count.value())}`);
      },
    }),
  )
  .to(out.sink, { uid: 'out' });

await env.execute('words');
console.log(out.records.join(', '));
