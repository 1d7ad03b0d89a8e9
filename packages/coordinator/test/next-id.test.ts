import { expect, test } from 'vitest';
import { nextCheckpointId } from '../src/next-id.js';

test.each([
  ['the first of a job is 1', { restored: undefined, present: [], committables: [] }, 1],
  ['above the restored one', { restored: 7, present: [7], committables: [] }, 8],
  ['above what is only half written', { restored: 7, present: [7, 8, 12], committables: [] }, 13],
  ['above what a committable was made for', { restored: 7, present: [7], committables: [9, 0] }, 10],
  ['above what another history left', { restored: undefined, present: [3, 40], committables: [] }, 41],
])('%s', (_title, seen, next) => {
  expect(nextCheckpointId(seen)).toBe(next);
});
