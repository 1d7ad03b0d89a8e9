import { filter, iterate, keyBy, keyedProcess, map, valueState, type Emit, type Stream } from '@weir/core/operators';
import { numberOf, type Item } from './item.js';
import type { Items, KeyedOptions } from './keyed-steps.js';

interface Round extends Item {
  /** Rounds that are still to be gone. */
  readonly left: number;
}

/** Each record goes round one to four times, each time with another key; the loop also tells how many records have come to a key. */
export function loop(input: Items, { uid, keys }: KeyedOptions): Items {
  return input.pipe(
    map(({ id, key }): Round => ({ id, key, left: 1 + (numberOf(id) % 4) })),
    iterate(
      (rounds: Stream<Round>) => {
        const gone = rounds.pipe(
          keyBy(({ key }) => key % keys),
          keyedProcess({
            uid: `${uid}-round`,
            state: { seen: valueState({ initial: () => 0 }) },
            onRecord({ id, key: before, left }, { key, state: { seen } }, emit: Emit<Round>) {
              const n = seen.value() + 1;
              seen.update(n);
              emit({ id: `${uid}:${String(key)}@${String(n)}`, key, left: 0 });
              emit({ id: `${id}o`, key: before + 1, left: left - 1 });
            },
          }),
        );
        return {
          feedback: gone.pipe(filter(({ left }) => left > 0)),
          output: gone.pipe(filter(({ left }) => left === 0)),
        };
      },
      { uid },
    ),
    map(({ id, key }): Item => ({ id, key })),
  );
}
