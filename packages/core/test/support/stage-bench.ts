import { Subject, type Observable } from 'rxjs';
import type { StreamElement } from '../../src/element/element.js';
import type { Operator } from '../../src/operator/operator.js';
import { StageFlow } from '../../src/stage/stage-flow.js';

/** A chain of operators and its flow, without a subtask around them: when there is demand, and when it is looked for again, is the test's. */
export class StageBench {
  readonly flow: StageFlow;
  readonly out: StreamElement<unknown>[] = [];
  readonly errors: unknown[] = [];
  readonly #operators: readonly Operator[];
  readonly #head = new Subject<StreamElement<unknown>>();

  constructor(hasDemand: () => boolean, operators: (flow: StageFlow) => readonly Operator[]) {
    this.flow = new StageFlow(hasDemand, (failure) => {
      if (failure !== undefined) this.errors.push(failure.error);
    });
    this.#operators = operators(this.flow);
    let stream: Observable<StreamElement<unknown>> = this.#head;
    for (const operator of this.#operators) stream = (operator as Operator<unknown>).connect(stream);
    stream.subscribe({
      next: (element) => this.out.push(element),
      error: (error) => this.errors.push(error),
    });
  }

  /** All records that came out, in order. */
  get records(): unknown[] {
    return this.out.flatMap((element) => (element.kind === 'batch' ? element.records : []));
  }

  async open(): Promise<void> {
    for (const operator of this.#operators.toReversed()) await operator.open?.();
  }

  send(element: StreamElement<unknown>): void {
    this.#head.next(element);
  }

  /** Goes on until nothing is suspended and nobody waits. Fails if that takes more than `steps`. */
  async drain(steps = 100_000): Promise<void> {
    for (let step = 0; this.flow.isSuspended || this.flow.isWaiting; step++) {
      if (step === steps) throw new Error(`still suspended after ${String(steps)} steps`);
      await this.flow.idle();
      if (this.flow.isSuspended) this.flow.resume();
    }
  }
}

/** `answers` over and over; with none, or without any true among them, always true: demand never stays away for ever. */
export function inTurn(answers: readonly boolean[]): () => boolean {
  let asked = 0;
  return () => !answers.includes(true) || answers[asked++ % answers.length] === true;
}
