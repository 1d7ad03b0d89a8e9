import { Observable, type OperatorFunction, type Subscriber } from 'rxjs';
import { ByteReader, ByteWriter } from '../element/bytes.js';
import { defaultSerializer } from '../state/default-serializer.js';

/**
 * How it shows that RxJS operators make more of a record than the record says, because they remember others or wait for them; undefined if it does not
 * show. Copies of one record go through them twice: what is different the second time, and not when all begins anew, was remembered.
 */
export function signOfMemory<A, B>(lifted: OperatorFunction<A, B>, record: A): string | undefined {
  const bytes = encoded(record);
  // A record that has no copy could be changed by this.
  if (bytes === undefined) return undefined;
  const copy = (): A => defaultSerializer.decode(new ByteReader(bytes)) as A;
  const trial = new Trial(lifted);
  try {
    if (trial.taken().length > 0) return 'gives something before the first record';
    const first = encoded(trial.next(copy()));
    if (trial.hasEnded()) return 'ends behind a record';
    const second = encoded(trial.next(copy()));
    if (trial.hasEnded()) return 'ends behind a record';
    if (trial.complete().length > 0) return 'gives something only when the stream ends';
    if (trial.hasFailed || first === undefined || second === undefined || isSame(first, second)) return undefined;
    // It may be chance instead, or the time.
    const anew = new Trial(lifted);
    const again = encoded(anew.next(copy()));
    anew.close();
    return again !== undefined && isSame(first, again) ? 'gives something else for the same record later' : undefined;
  } finally {
    trial.close();
  }
}

/** One subscription, record by record. */
class Trial<A, B> {
  hasFailed = false;
  #hasEnded = false;
  #given: B[] = [];
  #source: Subscriber<A> | undefined;
  readonly close: () => void;

  constructor(lifted: OperatorFunction<A, B>) {
    const source = new Observable<A>((subscriber) => {
      this.#source = subscriber;
    });
    const subscription = source.pipe(lifted).subscribe({
      next: (value) => this.#given.push(value),
      // Of a failure the record itself will tell.
      error: () => (this.hasFailed = true),
      complete: () => (this.#hasEnded = true),
    });
    this.close = () => {
      subscription.unsubscribe();
    };
  }

  next(record: A): B[] {
    this.#source?.next(record);
    return this.taken();
  }
  complete(): B[] {
    this.#source?.complete();
    return this.taken();
  }
  hasEnded(): boolean {
    return this.#hasEnded;
  }
  taken(): B[] {
    const given = this.#given;
    this.#given = [];
    return given;
  }
}

function encoded(value: unknown): Uint8Array | undefined {
  const out = new ByteWriter();
  try {
    defaultSerializer.encode(value, out);
  } catch {
    return undefined;
  }
  return out.toBytes();
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, i) => byte === other[i]);
}
