import { pino, type DestinationStream } from 'pino';
import type { Logger } from '../contracts/logger.js';

/** What an environment logs to unless it is given a logger: warnings and errors, as JSON lines, to standard error. */
export function defaultLogger(destination: DestinationStream = pino.destination({ dest: 2, sync: true })): Logger {
  return pino({ name: 'weir', level: 'warn', base: {} }, destination);
}
