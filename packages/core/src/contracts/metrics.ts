export type Labels = Readonly<Record<string, string>>;

export interface Counter {
  add(count: number): void;
}
export interface Histogram {
  record(value: number): void;
}
/** Where measurements go; no vendor. Instruments are asked for once, when something opens, never per record. */
export interface Metrics {
  counter(name: string, labels?: Labels): Counter;
  histogram(name: string, labels?: Labels): Histogram;
  /** `read` is called whenever somebody collects. The returned function removes the gauge. */
  gauge(name: string, read: () => number, labels?: Labels): () => void;
}

export const NO_METRICS: Metrics = {
  counter: () => ({ add: () => undefined }),
  histogram: () => ({ record: () => undefined }),
  gauge: () => () => undefined,
};
