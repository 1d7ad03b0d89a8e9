import { datagen } from '@weir/connectors/datagen';
import { print } from '@weir/connectors/print';
import { createEnvironment } from '@weir/core';

const env = createEnvironment();
env.from(datagen({ from: 1, count: 3, map: (n) => ({ n, square: n * n }) })).to(print({ prefix: 'squares' }));
await env.execute('squares');
