export { print } from './print.js';
export type { PrintOptions } from './print.js';
