export { collected } from './collected.js';
export type { Collected } from './collected.js';
export { collection } from './collection.js';
export { crash } from './crash.js';
export type { Crash } from './crash.js';
