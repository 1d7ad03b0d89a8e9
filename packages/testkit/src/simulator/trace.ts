/** What happened in a run, line by line. The text of a line is made only if somebody reads it. */
export interface Trace {
  add(line: () => string): void;
}

export const NO_TRACE: Trace = { add: () => undefined };

/** Puts the virtual time in front of each line. */
export function timed(trace: Trace, time: () => number): Trace {
  if (trace === NO_TRACE) return trace;
  return {
    add: (line) => {
      trace.add(() => `${time().toFixed(3).padStart(12)}  ${line()}`);
    },
  };
}
