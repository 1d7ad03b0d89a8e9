import { createEnvironment } from '@weir/core';

const env = createEnvironment({
  plugins: [],
  config: {
    'execution.checkpointing.interval': '10 s',
    execution: { checkpointing: { 'min-pause': '500 ms', mode: 'AT_LEAST_ONCE' } },
    'parallelism.default': '2',
  },
});
