import { withCheckpoints, type Marker, type Script } from '../crash-script/script.js';

/** One way to run the same input. */
export interface Scenario {
  /** Ends a sentence that begins with "differs": "with a crash after 3 of 7 records". */
  readonly name: string;
  readonly pace: Script<never>['pace'];
  readonly markers: readonly Marker[];
  readonly output: 'ready' | 'slow';
  readonly state: 'as-it-is' | 'lent';
  /** Of the first process, the second, and so on, and again from the first; more than one only with `stop` among the markers. */
  readonly parallelism: readonly [number, ...number[]];
}

/** Places at which a crash is tried; longer inputs are probed at this many, evenly spread, first and last included. */
const MOST_PLACES = 33;

/** The whole matrix for an input of `count` records. Every scenario must give the same output; the first is the plainest. */
export function scenarios(count: number, takesCheckpoints: boolean): readonly Scenario[] {
  const plain: Scenario = {
    name: 'all at once',
    pace: 'all-at-once',
    markers: [],
    output: 'ready',
    state: 'as-it-is',
    parallelism: [1],
  };
  const paced: Scenario[] = [
    plain,
    { ...plain, name: 'item by item', pace: 'one-by-one' },
    { ...plain, name: 'with slow output', output: 'slow' },
    { ...plain, name: 'with state values that expire with the callback', pace: 'one-by-one', state: 'lent' },
  ];
  const crashing = takesCheckpoints ? crashScenarios(plain, count) : [];
  const wide = [2, 4].flatMap((parallelism) => wideScenarios(plain, count, parallelism, takesCheckpoints));
  const rescaled = takesCheckpoints ? rescaledScenarios(plain, count) : [];
  return [...paced, ...crashing, ...wide, ...rescaled];
}

function crashScenarios(plain: Scenario, count: number): readonly Scenario[] {
  const places = placesIn(count);
  const everywhere = Array.from({ length: count + 1 }, (_, at): Marker => ({ kind: 'checkpoint', at }));
  const all = (replayed: number): readonly Marker[] => withCheckpoints(places, replayed);
  const at = (place: number): string => `after ${String(place)} of ${String(count)} records`;
  return [
    { ...plain, name: 'with a checkpoint between any two records', markers: everywhere },
    ...places.flatMap((place): Scenario[] => [
      { ...plain, name: `with a crash right behind a checkpoint, ${at(place)}`, markers: withCheckpoints([place], 0) },
      {
        ...plain,
        name: `with a crash before any checkpoint, ${at(place)}`,
        markers: withCheckpoints([place], Number.POSITIVE_INFINITY),
      },
    ]),
    ...places.slice(1).flatMap((place): Scenario[] => [
      {
        ...plain,
        name: `with a crash one record behind a checkpoint, ${at(place)}`,
        markers: withCheckpoints([place], 1),
      },
      { ...plain, name: `with two crashes in a row, ${at(place)}`, markers: withCheckpoints([place, place], 1) },
    ]),
    { ...plain, name: 'with a checkpoint and a crash between any two records', markers: all(0) },
    { ...plain, name: 'with a crash between any two records, one record behind a checkpoint', markers: all(1) },
    {
      ...plain,
      name: 'item by item, with slow output and a crash between any two records',
      pace: 'one-by-one',
      output: 'slow',
      markers: all(1),
    },
  ];
}

function wideScenarios(
  plain: Scenario,
  count: number,
  parallelism: number,
  takesCheckpoints: boolean,
): readonly Scenario[] {
  const wide: Scenario = { ...plain, name: `at parallelism ${String(parallelism)}`, parallelism: [parallelism] };
  const calm: Scenario[] = [wide, { ...wide, name: `${wide.name}, item by item`, pace: 'one-by-one' }];
  if (!takesCheckpoints) return calm;
  const markers = withCheckpoints(placesIn(count), 1);
  return [...calm, { ...wide, name: `${wide.name}, with a crash between any two records`, markers }];
}

/** Each restore is into twice or half as many subtasks as before. */
function rescaledScenarios(plain: Scenario, count: number): readonly Scenario[] {
  const places = placesIn(count);
  const rescaled: Scenario = {
    ...plain,
    name: 'restored into twice and into half the parallelism, between any two records',
    markers: withCheckpoints(places, 0, 'stop'),
    parallelism: [2, 4, 2, 1],
  };
  return [
    rescaled,
    {
      ...rescaled,
      name: `${rescaled.name}, one record behind a checkpoint`,
      markers: withCheckpoints(places, 1, 'stop'),
    },
  ];
}

/** 0 to `count`, thinned out where that would be too many. */
function placesIn(count: number): readonly number[] {
  const places = Math.min(count + 1, MOST_PLACES);
  return Array.from({ length: places }, (_, i) => (places === 1 ? 0 : Math.round((i * count) / (places - 1))));
}
