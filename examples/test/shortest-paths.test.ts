import { checkpointCoordinator } from '@weir/coordinator';
import { memoryBackend } from '@weir/backend-memory';
import { checkOperator, seededRandom } from '@weir/testkit';
import { expect, test } from 'vitest';
import { shortestPaths, type Distance, type Fact, type Road } from '../src/loops/shortest-paths.js';

const PLACES = 9;
const random = seededRandom(7);
const anyOf = (count: number): number => Math.floor(random() * count);
const placed = (n: number): string => `place ${String(n)}`;
/** A long way through all places, and some that are shorter, or lead back. */
const roads: readonly Road[] = [
  ...Array.from({ length: PLACES - 1 }, (_, n): Road => ({ kind: 'road', from: placed(n), to: placed(n + 1), km: 15 })),
  ...Array.from({ length: 9 }, (): Road => ({
    kind: 'road',
    from: placed(anyOf(PLACES)),
    to: placed(anyOf(PLACES)),
    km: 1 + anyOf(20),
  })),
];
const start: Distance = { kind: 'distance', place: placed(0), km: 0 };
/** One starts before most roads are known. */
const facts: readonly Fact[] = [...roads.slice(0, 5), start, ...roads.slice(5)];

/** By trying all roads over and over. */
function byHand(): ReadonlyMap<string, number> {
  const nearest = new Map([[start.place, 0]]);
  for (let round = 0; round < PLACES; round++) {
    for (const { from, to, km } of roads) {
      const through = (nearest.get(from) ?? Number.POSITIVE_INFINITY) + km;
      if (through < (nearest.get(to) ?? Number.POSITIVE_INFINITY)) nearest.set(to, through);
    }
  }
  return nearest;
}

function nearestOf(distances: readonly Distance[]): ReadonlyMap<string, number> {
  const nearest = new Map<string, number>();
  for (const { place, km } of distances) nearest.set(place, Math.min(km, nearest.get(place) ?? km));
  return nearest;
}

test('distances go round until they are the shortest, whatever the order, the parallelism and the crashes', async () => {
  const expected = byHand();
  expect(expected.size).toBeGreaterThan(8);
  await checkOperator(shortestPaths(), {
    plugins: [checkpointCoordinator(), memoryBackend()],
    input: facts,
    expected: [],
    compare: (distances) => {
      expect(nearestOf(distances)).toEqual(expected);
      // Each distance of a place is shorter than the one before, so none comes twice.
      const said = distances.map(({ place, km }) => `${place} ${String(km)}`);
      expect(new Set(said).size).toBe(said.length);
    },
  });
}, 120_000);
