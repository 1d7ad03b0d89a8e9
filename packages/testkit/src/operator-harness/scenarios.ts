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

/** Places at which a crash is tried in a run that has one at each; longer inputs are probed at this many, evenly spread, first and last included. */
const MOST_PLACES = 33;

/** The same where several subtasks restart, or processes follow each other, at each place. */
const PLACES_IN_WIDE = 4;

/** The whole matrix for an input of `count` records. Every scenario must give the same output; the first is the plainest. */
export function scenarios(count: number, takesCheckpoints: boolean): readonly Scenario[] {
  const paced: Scenario[] = [
    PLAIN,
    { ...PLAIN, name: 'item by item', pace: 'one-by-one' },
    { ...PLAIN, name: 'with slow output', output: 'slow' },
    { ...PLAIN, name: 'with state values that expire with the callback', pace: 'one-by-one', state: 'lent' },
  ];
  const crashing = takesCheckpoints ? crashScenarios(count) : [];
  const wide = [2, 4].flatMap((parallelism) => wideScenarios(count, parallelism, takesCheckpoints));
  return [...paced, ...crashing, ...wide, ...(takesCheckpoints ? [rescaledScenario(count)] : [])];
}

/** What a scenario with several crashes is made of, one run for each place: to say where it fails. */
export function crashesOneByOne(count: number): readonly Scenario[] {
  const places = placesIn(count, MOST_PLACES);
  return [
    ...places.flatMap((place) => [behindCheckpoint(place, count), beforeCheckpoint(place, count)]),
    ...places.slice(1).flatMap((place) => [oneBehindCheckpoint(place, count), twiceInARow(place, count)]),
  ];
}

const PLAIN: Scenario = {
  name: 'all at once',
  pace: 'all-at-once',
  markers: [],
  output: 'ready',
  state: 'as-it-is',
  parallelism: [1],
};

/** A crash at each place in one run, and single ones in the middle, with a longer past: a run for each would be dear, and is made where one of these fails. */
function crashScenarios(count: number): readonly Scenario[] {
  const places = placesIn(count, MOST_PLACES);
  const everywhere = Array.from({ length: count + 1 }, (_, at): Marker => ({ kind: 'checkpoint', at }));
  const middle = Math.ceil(count / 2);
  const single = [
    behindCheckpoint(middle, count),
    beforeCheckpoint(middle, count),
    ...(count > middle ? [beforeCheckpoint(count, count)] : []),
    ...(middle > 0 ? [twiceInARow(middle, count)] : []),
  ];
  return [
    { ...PLAIN, name: 'with a checkpoint between any two records', markers: everywhere },
    ...single,
    { ...PLAIN, name: 'with a checkpoint and a crash between any two records', markers: withCheckpoints(places, 0) },
    {
      ...PLAIN,
      name: 'item by item, with slow output and a crash between any two records, one record behind a checkpoint',
      pace: 'one-by-one',
      output: 'slow',
      markers: withCheckpoints(places, 1),
    },
  ];
}

const behindCheckpoint = (place: number, count: number): Scenario => ({
  ...PLAIN,
  name: `with a crash right behind a checkpoint, ${after(place, count)}`,
  markers: withCheckpoints([place], 0),
});

const beforeCheckpoint = (place: number, count: number): Scenario => ({
  ...PLAIN,
  name: `with a crash before any checkpoint, ${after(place, count)}`,
  markers: withCheckpoints([place], Number.POSITIVE_INFINITY),
});

const oneBehindCheckpoint = (place: number, count: number): Scenario => ({
  ...PLAIN,
  name: `with a crash one record behind a checkpoint, ${after(place, count)}`,
  markers: withCheckpoints([place], 1),
});

const twiceInARow = (place: number, count: number): Scenario => ({
  ...PLAIN,
  name: `with two crashes in a row, ${after(place, count)}`,
  markers: withCheckpoints([place, place], 1),
});

function after(place: number, count: number): string {
  return `after ${String(place)} of ${String(count)} records`;
}

function wideScenarios(count: number, parallelism: number, takesCheckpoints: boolean): readonly Scenario[] {
  const wide: Scenario = { ...PLAIN, name: `at parallelism ${String(parallelism)}`, parallelism: [parallelism] };
  const calm: Scenario[] = [wide, { ...wide, name: `${wide.name}, item by item`, pace: 'one-by-one' }];
  if (!takesCheckpoints) return calm;
  const markers = withCheckpoints(placesIn(count, PLACES_IN_WIDE), 1);
  return [...calm, { ...wide, name: `${wide.name}, with crashes`, markers }];
}

/** Each restore is into twice or half as many subtasks as before, with no record to read again or with one, in turn. */
function rescaledScenario(count: number): Scenario {
  return {
    ...PLAIN,
    name: 'restored into twice and into half the parallelism',
    markers: placesIn(count, PLACES_IN_WIDE).flatMap((place, i) => withCheckpoints([place], i % 2, 'stop')),
    parallelism: [2, 4, 2, 1],
  };
}

/** 0 to `count`, thinned out to `most` where that would be too many. */
function placesIn(count: number, most: number): readonly number[] {
  const places = Math.min(count + 1, most);
  return Array.from({ length: places }, (_, i) => (places === 1 ? 0 : Math.round((i * count) / (places - 1))));
}
