import { stateBackendSuite } from '@weir/testkit';
import { describe, test } from 'vitest';
import { mapState } from '../../examples/plugins/map-state.js';

describe('map state', () => {
  stateBackendSuite(test, { create: () => mapState, histories: 5 });
});
