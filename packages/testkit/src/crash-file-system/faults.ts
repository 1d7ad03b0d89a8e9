import { FileError } from './file-error.js';
import { matches, type Operation, type OperationPattern } from './operation.js';

export interface FailureOptions {
  /** The first matching operation that fails, from 1; those before succeed. Default 1. */
  readonly nth?: number | undefined;
  /** How many matching operations fail from then on; default 1. */
  readonly times?: number | undefined;
  /** Matching writes take so many bytes in total before they fail, the last of them a part of its bytes. Default 0. */
  readonly afterBytes?: number | undefined;
}
/** An operation that waits until the test lets it go on. */
export interface Hold {
  /** Settles when the operation has been called. */
  readonly reached: Promise<void>;
  release(): void;
}
/** An operation that fails, after `bytes` of a write got through. */
export interface Fault {
  readonly error: FileError;
  readonly bytes: number;
}

interface Failure {
  readonly pattern: OperationPattern;
  readonly code: string;
  /** Matching operations that still succeed. */
  spare: number;
  /** Matching operations that still fail. */
  left: number;
  bytes: number;
}
interface Gate {
  readonly pattern: OperationPattern;
  readonly reached: Signal;
  readonly opened: Signal;
}
/** A promise and what settles it. */
interface Signal {
  readonly promise: Promise<void>;
  readonly give: () => void;
}

/** What a test wants to go wrong, asked before each operation. */
export class Faults {
  readonly #failures: Failure[] = [];
  readonly #gates: Gate[] = [];
  readonly #stopped = signal();
  #stopAt = Infinity;

  /** Settles when the operation to stop at has been called. */
  get stopped(): Promise<void> {
    return this.#stopped.promise;
  }

  fail(pattern: OperationPattern, code: string, options: FailureOptions): () => void {
    const { nth = 1, times = 1, afterBytes = 0 } = options;
    const failure = { pattern, code, spare: nth - 1, left: times, bytes: afterBytes };
    this.#failures.push(failure);
    return () => {
      failure.left = 0;
    };
  }

  hold(pattern: OperationPattern): Hold {
    const gate = { pattern, reached: signal(), opened: signal() };
    this.#gates.push(gate);
    return { reached: gate.reached.promise, release: gate.opened.give };
  }

  stopAt(index: number): void {
    this.#stopAt = index;
  }

  async before(operation: Operation): Promise<Fault | undefined> {
    if (operation.index >= this.#stopAt) {
      this.#stopped.give();
      return new Promise<never>(() => undefined);
    }
    const at = this.#gates.findIndex((gate) => matches(gate.pattern, operation));
    const [gate] = at < 0 ? [] : this.#gates.splice(at, 1);
    gate?.reached.give();
    await gate?.opened.promise;
    for (const failure of this.#failures) {
      const fault = faultOf(failure, operation);
      if (fault !== undefined) return fault;
    }
    return undefined;
  }
}

function signal(): Signal {
  let give: () => void = () => undefined;
  const promise = new Promise<void>((resolve) => {
    give = resolve;
  });
  return { promise, give };
}

function faultOf(failure: Failure, operation: Operation): Fault | undefined {
  if (failure.left === 0 || !matches(failure.pattern, operation)) return undefined;
  if (failure.spare > 0) {
    failure.spare--;
    return undefined;
  }
  const bytes = operation.bytes ?? 0;
  if (bytes > 0 && bytes <= failure.bytes) {
    failure.bytes -= bytes;
    return undefined;
  }
  failure.left--;
  const error = new FileError(failure.code, operation.op, operation.path);
  const fault = { error, bytes: failure.bytes };
  failure.bytes = 0;
  return fault;
}
