export { runSuite } from './suite.js';
export type { SuiteReport, TestFunction } from './suite.js';
export { VirtualClock } from './virtual-clock.js';
