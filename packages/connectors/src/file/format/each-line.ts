const LF = 10;
const CR = 13;

/**
 * Calls `visit` for each line: where its text starts and stops, and where the line ends with its line end (LF or CR LF).
 * What follows the last line end is a line too, if there is anything.
 */
export function eachLine(bytes: Uint8Array, visit: (start: number, stop: number, end: number) => void): void {
  const { length } = bytes;
  for (let start = 0; start < length;) {
    const at = bytes.indexOf(LF, start);
    if (at < 0) {
      visit(start, length, length);
      return;
    }
    visit(start, at > start && bytes[at - 1] === CR ? at - 1 : at, at + 1);
    start = at + 1;
  }
}
