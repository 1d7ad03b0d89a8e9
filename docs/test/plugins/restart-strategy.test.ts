import { restartStrategySuite } from '@weir/testkit';
import { describe, test } from 'vitest';
import { unlessRepeated } from '../../examples/plugins/unless-repeated.js';

describe('unless-repeated', () => {
  restartStrategySuite(test, { create: () => unlessRepeated(3) });
});
