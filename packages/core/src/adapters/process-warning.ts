/** Says something that no logger can be trusted to say: Node prints it to standard error, once per call. */
export function processWarning(message: string): void {
  process.emitWarning(message, 'WeirWarning');
}
