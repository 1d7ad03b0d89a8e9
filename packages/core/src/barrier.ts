// The algorithm alone: barriers over plain Observables of elements, without jobs, state or plugins.
export { align } from './barrier/align.js';
export type { AlignOptions } from './barrier/align.js';
export { track } from './barrier/track.js';
export { overtake } from './barrier/overtake.js';
export type { OvertakeOptions } from './barrier/overtake.js';
export type { InFlight } from './barrier/in-flight.js';
export type { RecordOf } from './barrier/carry.js';
export { mapRecords } from './barrier/map-records.js';
export { filterRecords } from './barrier/filter-records.js';
export { alignment, isBlocked, pendingId, snapshotsOnTimeout, step } from './barrier/alignment.js';
export type { AlignmentInput, AlignmentOptions, AlignmentState, Transition } from './barrier/alignment.js';
export type { AlignmentAction, AlignmentMode } from './barrier/modes.js';
export { END_OF_CHANNEL, END_OF_DATA, barrier, batch, cancelMarker } from './element/element.js';
export type {
  Barrier,
  CancelMarker,
  ControlElement,
  EndOfChannel,
  EndOfData,
  IdleFlag,
  RecordBatch,
  SnapshotKind,
  StreamElement,
  Watermark,
} from './element/element.js';
