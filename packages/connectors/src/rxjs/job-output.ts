import { GuardedObservable, type JobEnding } from '@weir/core/contracts';
import { Subject, type Observable } from 'rxjs';

/** The way out of a job into an Observable: hot, and accountable for its subscribers. */
export class JobOutput<T> {
  readonly observable: Observable<T>;
  #values = new Subject<T>();
  #ending: JobEnding | undefined;
  #isHandingOver = false;
  #thrown: { readonly error: unknown } | undefined;

  constructor() {
    this.observable = new GuardedObservable(
      (error) => {
        this.#report(error);
      },
      (subscriber) => this.#values.subscribe(subscriber),
    );
  }

  /** An attempt starts. Subscribers of a run that is over have seen its end; this is for those who come now. */
  begin(): void {
    if (this.#ending === undefined) return;
    this.#ending = undefined;
    this.#values = new Subject();
  }

  /** Hands a value to every subscriber; then throws the first error that any of them threw over it. */
  next(value: T): void {
    this.#isHandingOver = true;
    try {
      this.#values.next(value);
    } finally {
      this.#isHandingOver = false;
    }
    if (this.#thrown === undefined) return;
    const { error } = this.#thrown;
    this.#thrown = undefined;
    throw error;
  }

  end(ending: JobEnding): void {
    this.#ending = ending;
    if (ending.kind === 'failed') this.#values.error(ending.error);
    else this.#values.complete();
  }

  #report(error: unknown): void {
    if (this.#isHandingOver) this.#thrown ??= { error };
    // Whoever holds the job's handle is told that it failed; a subscriber that does not listen for errors need not end the process.
    else if (this.#ending?.kind !== 'failed' || this.#ending.error !== error) throw error;
  }
}
