import { collected, collection } from '@weir/connectors/collection';
import { createEnvironment } from '@weir/core';
import { map } from '@weir/core/operators';

const out = collected<number>();
const env = createEnvironment();
env
  .from(collection([1, 2, 3]))
  .pipe(map((n) => n * 10))
  .to(out.sink);
await env.execute('tens');
console.log(out.records);
