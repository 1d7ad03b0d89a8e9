/** One turn of the real event loop: every promise that can settle without I/O has settled afterwards, and finished I/O was delivered. */
export function realTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
