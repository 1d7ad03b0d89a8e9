import { createEnvironment } from '@weir/core';

const env = createEnvironment({
  config: { 'state.backend.type': '@acme/weir-lmdb', 'state.backend.lmdb.dir': './lmdb' },
  load: (name) => import(name),
});
