import { filter, iterate, keyBy, keyedProcess, listState, map, valueState, type Emit } from '@weir/core/operators';
import type { Stream, StreamOperator } from '@weir/core/operators';

/** A road that one can take in one direction. */
export interface Road {
  readonly kind: 'road';
  readonly from: string;
  readonly to: string;
  readonly km: number;
}
/** `place` can be reached in `km`. As input: where one starts, with 0. */
export interface Distance {
  readonly kind: 'distance';
  readonly place: string;
  readonly km: number;
}
export type Fact = Road | Distance;

/** What a place says: to the world that it is nearer than was known, or to a neighbour how far that one is through it. */
type Word = { readonly to: 'world'; readonly fact: Distance } | { readonly to: 'neighbour'; readonly fact: Distance };

/**
 * Shortest paths in a network of roads that is still being built: emits each distance that has become shorter. Distances go round from place to
 * place until none of them changes any more, however large the network; a road that is opened later sends the change round again. What is
 * emitted last for a place is its shortest distance, whatever the order of the input (Bellman and Ford's algorithm, as a fixed point).
 */
export function shortestPaths(): StreamOperator<Fact, Distance> {
  return iterate<Fact, Distance>(
    (facts: Stream<Fact>) => {
      const said = facts.pipe(
        keyBy((fact) => (fact.kind === 'road' ? fact.from : fact.place)),
        keyedProcess({
          uid: 'places',
          state: { nearest: valueState<number>(), roads: listState<Road>() },
          onRecord(fact, { key, state: { nearest, roads } }, emit: Emit<Word>) {
            const known = nearest.value() ?? Number.POSITIVE_INFINITY;
            const tell = ({ to, km }: Road, here: number): void => {
              emit({ to: 'neighbour', fact: { kind: 'distance', place: to, km: here + km } });
            };
            if (fact.kind === 'road') {
              roads.add(fact);
              if (known < Number.POSITIVE_INFINITY) tell(fact, known);
            } else if (fact.km < known) {
              nearest.update(fact.km);
              emit({ to: 'world', fact: { kind: 'distance', place: key, km: fact.km } });
              for (const road of roads.values()) tell(road, fact.km);
            }
          },
        }),
      );
      return { feedback: factsTo(said, 'neighbour'), output: factsTo(said, 'world') };
    },
    { uid: 'network' },
  );
}

function factsTo(said: Stream<Word>, whom: Word['to']): Stream<Distance> {
  return said.pipe(
    filter(({ to }) => to === whom),
    map(({ fact }) => fact),
  );
}
