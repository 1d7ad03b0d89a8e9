import { collected, collection } from '@weir/connectors/collection';
import { memoryBackend } from '@weir/backend-memory';
import { checkpointCoordinator } from '@weir/coordinator';
import { createEnvironment } from '@weir/core';
import { flatMap, map } from '@weir/core/operators';

interface Order {
  readonly id: number;
}
type Read = { readonly order: Order } | { readonly text: string; readonly why: string };

function read(text: string): Read {
  try {
    return { order: JSON.parse(text) as Order };
  } catch (error) {
    return { text, why: (error as Error).name };
  }
}

const env = createEnvironment({ plugins: [checkpointCoordinator(), memoryBackend()] });
env.enableCheckpointing('10 s');
const orders = collected<Order>();
const bad = collected<{ readonly text: string; readonly why: string }>();
const all = env.from(collection(['{"id":1}', '{"id":', '{"id":3}']), { uid: 'texts' }).pipe(map(read));
all
  .pipe(flatMap((one) => ('order' in one ? [one.order] : [])))
  .to(orders.sink, { uid: 'orders', guarantee: 'exactly-once' });
all.pipe(flatMap((one) => ('order' in one ? [] : [one]))).to(bad.sink, { uid: 'bad', guarantee: 'exactly-once' });
await env.execute('bad-records');
console.log(orders.records, bad.records);
