import type { StreamElement } from '../element/element.js';

/** Anything but a batch without records. */
export function isWorthSending(element: StreamElement<unknown>): boolean {
  return element.kind !== 'batch' || element.records.length > 0;
}
