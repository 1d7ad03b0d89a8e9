export { datagen } from './datagen.js';
export type { DatagenOptions, SequenceSplit } from './datagen.js';
