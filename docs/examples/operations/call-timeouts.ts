import { createEnvironment } from '@weir/core';

const env = createEnvironment({ callTimeouts: { storage: '5 min', sink: '90 s' } });
