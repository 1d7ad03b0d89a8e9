import type { SourceGrade } from '../contracts/source.js';
import type { Sink, SinkGrade } from '../contracts/sink.js';
import type { Key } from '../element/key.js';
import type { StreamNode } from './stream-node.js';

/** What an output is worth after failures. */
export type Guarantee = 'exactly-once' | 'at-least-once' | 'at-most-once';
/** The weakest link of source and sink; a union of grades counts as its weakest member. */
export type EndToEnd<S extends SourceGrade, K extends SinkGrade> = 'at-most-once' extends S
  ? 'at-most-once'
  : 'at-least-once' extends K
    ? 'at-least-once'
    : 'acknowledging' extends S
      ? 'at-least-once'
      : 'exactly-once';
/** Every guarantee up to `G`. */
export type AtMost<G extends Guarantee> = G extends 'exactly-once'
  ? Guarantee
  : G extends 'at-least-once'
    ? 'at-least-once' | 'at-most-once'
    : G;

export interface OperatorOptions {
  /** Name under which the operator finds its state again; set it for everything stateful that is to survive a change of the program. */
  readonly uid?: string | undefined;
  /** Number of subtasks; absent: the environment's. */
  readonly parallelism?: number | undefined;
}
export interface SinkOptions<G extends Guarantee> extends OperatorOptions {
  /** A claim: the compiler checks it against source and sink, `start` against mode and plugins. */
  readonly guarantee?: AtMost<G> | undefined;
}

/**
 * A description of a stream of records: neither hot nor cold. Piping it twice is one stream with two consumers. `K` is what it is keyed by, see
 * {@link KeyedStream}; by default nothing is known of that.
 */
export interface Stream<out T, out G extends SourceGrade = SourceGrade, out K = unknown> {
  readonly '~record': T;
  readonly '~grade': G;
  readonly '~keyedBy': K;
  readonly '~node': StreamNode;
  pipe<A>(a: (s: this) => A): A;
  pipe<A, B>(a: (s: this) => A, b: (s: A) => B): B;
  pipe<A, B, C>(a: (s: this) => A, b: (s: A) => B, c: (s: B) => C): C;
  pipe<A, B, C, D>(a: (s: this) => A, b: (s: A) => B, c: (s: B) => C, d: (s: C) => D): D;
  pipe<A, B, C, D, E>(a: (s: this) => A, b: (s: A) => B, c: (s: B) => C, d: (s: C) => D, e: (s: D) => E): E;
  pipe<A, B, C, D, E, F>(
    a: (s: this) => A,
    b: (s: A) => B,
    c: (s: B) => C,
    d: (s: C) => D,
    e: (s: D) => E,
    f: (s: E) => F,
  ): F;
  pipe<A, B, C, D, E, F, H>(
    a: (s: this) => A,
    b: (s: A) => B,
    c: (s: B) => C,
    d: (s: C) => D,
    e: (s: D) => E,
    f: (s: E) => F,
    g: (s: F) => H,
  ): H;
  pipe<A, B, C, D, E, F, H, I>(
    a: (s: this) => A,
    b: (s: A) => B,
    c: (s: B) => C,
    d: (s: C) => D,
    e: (s: D) => E,
    f: (s: E) => F,
    g: (s: F) => H,
    h: (s: H) => I,
  ): I;
  pipe<A, B, C, D, E, F, H, I, J>(
    a: (s: this) => A,
    b: (s: A) => B,
    c: (s: B) => C,
    d: (s: C) => D,
    e: (s: D) => E,
    f: (s: E) => F,
    g: (s: F) => H,
    h: (s: H) => I,
    i: (s: I) => J,
  ): J;
  pipe<A, B, C, D, E, F, H, I, J, K>(
    a: (s: this) => A,
    b: (s: A) => B,
    c: (s: B) => C,
    d: (s: C) => D,
    e: (s: D) => E,
    f: (s: E) => F,
    g: (s: F) => H,
    h: (s: H) => I,
    i: (s: I) => J,
    j: (s: J) => K,
  ): K;
  pipe<A, B, C, D, E, F, H, I, J, K, L>(
    a: (s: this) => A,
    b: (s: A) => B,
    c: (s: B) => C,
    d: (s: C) => D,
    e: (s: D) => E,
    f: (s: E) => F,
    g: (s: F) => H,
    h: (s: H) => I,
    i: (s: I) => J,
    j: (s: J) => K,
    k: (s: K) => L,
  ): L;
  pipe<A, B, C, D, E, F, H, I, J, K, L, M>(
    a: (s: this) => A,
    b: (s: A) => B,
    c: (s: B) => C,
    d: (s: C) => D,
    e: (s: D) => E,
    f: (s: E) => F,
    g: (s: F) => H,
    h: (s: H) => I,
    i: (s: I) => J,
    j: (s: J) => K,
    k: (s: K) => L,
    l: (s: L) => M,
  ): M;
  /** Ends the stream in a sink. */
  to<S extends Stream<unknown>, K extends SinkGrade>(
    this: S,
    sink: Sink<T, K>,
    options?: SinkOptions<EndToEnd<S['~grade'], K>>,
  ): void;
}
/** A stream whose records are grouped by key: what keyed operators need. It stays one through operators that make records of records. */
export type KeyedStream<T, K extends Key = Key, G extends SourceGrade = SourceGrade> = Stream<T, G, K>;
/** What strangers export: an operator for streams of any grade. What it makes is not keyed. */
export type StreamOperator<A, B> = <G extends SourceGrade>(s: Stream<A, G>) => Stream<B, G>;
