const FIRST_MS = 1000;

/** How long to leave alone what has failed so many times in a row: twice as long each time. */
export function backOff(failures: number, longestMs: number): number {
  return Math.min(FIRST_MS * 2 ** (failures - 1), longestMs);
}
