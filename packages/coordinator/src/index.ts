export { checkpointCoordinator } from './plugin.js';
