import { readFileSync } from 'node:fs';

export type Mode = 'run' | 'fill' | 'restore';

/** What a program is asked for: `engine keys count parallelism mode`. */
export interface Order {
  readonly engine: string;
  readonly keys: number;
  readonly count: number;
  readonly parallelism: number;
  readonly mode: Mode;
}
export function orderFrom([engine, keys, count, parallelism, mode]: readonly string[]): Order {
  return {
    engine: String(engine),
    keys: Number(keys),
    count: Number(count),
    parallelism: Number(parallelism),
    mode: mode as Mode,
  };
}

interface Mark {
  readonly wallMs: number;
  readonly cpuMs: number;
}

/** Epoch ms just before the process was started. */
const BEGUN = Number(process.env['BENCH_T0'] ?? Date.now());

export function msSinceStart(): number {
  return Date.now() - BEGUN;
}

/** Time and CPU time, of all threads, from the first record to the last; from a quarter of them on, the code is warm. */
export class Meter {
  readonly #order: Order;
  readonly warmAt: number;
  #first: Mark | undefined;
  #firstAfterMs = 0;
  #warm: Mark | undefined;
  #last: Mark | undefined;

  constructor(order: Order) {
    this.#order = order;
    this.warmAt = Math.floor(order.count / 4);
  }

  get hasBegun(): boolean {
    return this.#first !== undefined;
  }
  get hasEnded(): boolean {
    return this.#last !== undefined;
  }

  begin(): void {
    if (this.#first !== undefined) return;
    this.#first = mark();
    this.#firstAfterMs = msSinceStart();
  }
  warm(): void {
    this.#warm ??= mark();
  }
  end(): void {
    this.#last = mark();
  }

  /** The one line that a program prints. `checkpoints`: durations in ms of those completed between the first record and the last. */
  report(count: number, checksum: number, checkpoints: readonly number[] | undefined, more: object = {}): void {
    const [first, warm, last] = [this.#first, this.#warm, this.#last];
    if (first === undefined || warm === undefined || last === undefined) throw new Error('the program did not run');
    const { engine, keys, count: all, parallelism } = this.#order;
    print({
      engine,
      K: keys,
      N: all,
      p: parallelism,
      wallMs: round(last.wallMs - first.wallMs),
      cpuMs: round(last.cpuMs - first.cpuMs),
      steadyRecords: all - this.warmAt,
      steadyWallMs: round(last.wallMs - warm.wallMs),
      steadyCpuMs: round(last.cpuMs - warm.cpuMs),
      count,
      checksum: checksum >>> 0,
      checkpoints: checkpoints?.length ?? null,
      ckptMeanMs: checkpoints?.length ? round(checkpoints.reduce((a, b) => a + b, 0) / checkpoints.length) : null,
      ckptMaxMs: checkpoints?.length ? round(Math.max(...checkpoints)) : null,
      startupMs: this.#firstAfterMs,
      peakRssMiB: peakRssMiB(),
      ...more,
    });
  }
}

export function print(line: object, done?: () => void): void {
  process.stdout.write(`${JSON.stringify(line)}\n`, done);
}

/** Null where the system does not say. */
export function peakRssMiB(): number | null {
  try {
    const kilobytes = /VmHWM:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
    return Math.round(Number(kilobytes) / 1024);
  } catch {
    return null;
  }
}

function mark(): Mark {
  const { user, system } = process.cpuUsage();
  return { wallMs: performance.now(), cpuMs: (user + system) / 1000 };
}

function round(ms: number): number {
  return Math.round(ms * 10) / 10;
}
