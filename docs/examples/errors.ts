import { createEnvironment, isWeirError } from '@weir/core';

try {
  await createEnvironment().execute('orders');
} catch (error) {
  if (!isWeirError(error, 'GRAPH_EMPTY')) throw error;
  console.log(error.message);
}
