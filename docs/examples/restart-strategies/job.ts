import { createEnvironment } from '@weir/core';
import { exponentialDelayRestart, noRestart } from '@weir/restart-strategies';

const env = createEnvironment({ plugins: [exponentialDelayRestart({ maxBackoff: '30 s' })] });
export const start = () => env.start('nightly', { restart: noRestart() });
