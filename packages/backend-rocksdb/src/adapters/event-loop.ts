/** Lets timers and I/O have their turn while much is copied from one database to another. Not by the job's clock, which knows nothing of disks. */
export function turnOfEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
