/** One turn of the real event loop: every promise that can settle without I/O has settled afterwards, and finished I/O was delivered. */
export function realTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** A file is being opened, read or written, or a folder is. */
export function isUsingFiles(): boolean {
  return process.getActiveResourcesInfo().some((name) => /^FSReq|CloseReq$/.test(name));
}
