import { createEnvironment } from '@weir/core';
import { fixedDelayRestart } from '@weir/restart-strategies';

const env = createEnvironment({ plugins: [fixedDelayRestart({ attempts: 3, delay: '5 s' })] });
