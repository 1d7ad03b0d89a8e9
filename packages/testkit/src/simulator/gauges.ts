import { NO_METRICS, type Labels, type Metrics } from '@weir/core/contracts';

/** Keeps the gauges of a job, to be looked at when it is stuck. */
export class Gauges implements Metrics {
  readonly #read = new Map<string, () => number>();
  readonly counter: Metrics['counter'] = (name) => NO_METRICS.counter(name);
  readonly histogram: Metrics['histogram'] = (name) => NO_METRICS.histogram(name);

  gauge(name: string, read: () => number, labels: Labels = {}): () => void {
    const { stage, subtask } = labels;
    const id = `${name}${stage === undefined ? '' : ` ${stage}/${subtask ?? ''}`}`;
    this.#read.set(id, read);
    return () => {
      if (this.#read.get(id) === read) this.#read.delete(id);
    };
  }

  describe(): string {
    return [...this.#read].map(([id, read]) => `  ${id} = ${String(read())}`).join('\n');
  }
}
