import { END_OF_CHANNEL, END_OF_DATA, barrier, batch, cancelMarker } from '@weir/core/barrier';
import type { StreamElement } from '@weir/core/barrier';
import fc from 'fast-check';

/** `channel:position`, counted over the records of the channel. */
export type Tag = `${number}:${number}`;
export type Element = StreamElement<Tag>;

export interface Script {
  /** What each channel sends before it completes. */
  readonly channels: readonly (readonly Element[])[];
  /** Which channel sends next; channels that have nothing left are passed over. */
  readonly turns: readonly number[];
}

type Word = 'barrier' | 'cancel' | 'skip';

const disturbed: fc.Arbitrary<Word> = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Word>('barrier') },
  { weight: 1, arbitrary: fc.constant<Word>('cancel') },
  { weight: 1, arbitrary: fc.constant<Word>('skip') },
);

/** Up to four channels with increasing checkpoint ids, each of which a channel delivers, cancels or skips, and that end at any place. */
export const scripts: fc.Arbitrary<Script> = scriptsOf(disturbed);

/** The same, with every channel delivering every barrier until it ends. */
export const undisturbedScripts: fc.Arbitrary<Script> = scriptsOf(fc.constant<Word>('barrier'));

function scriptsOf(word: fc.Arbitrary<Word>): fc.Arbitrary<Script> {
  return fc
    .integer({ min: 1, max: 4 })
    .chain((count) =>
      fc.record({
        plans: fc.array(channelPlan(word), { minLength: count, maxLength: count }),
        turns: fc.array(fc.nat(count - 1), { maxLength: 80 }),
      }),
    )
    .map(({ plans, turns }) => ({ channels: plans.map(elementsOf), turns }));
}

interface ChannelPlan {
  readonly parts: readonly { readonly batches: readonly number[]; readonly word: Word }[];
  readonly endsData: boolean;
  readonly endsChannel: boolean;
}

function channelPlan(word: fc.Arbitrary<Word>): fc.Arbitrary<ChannelPlan> {
  const batches = fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 3 });
  return fc.record({
    parts: fc.array(fc.record({ batches, word }), { maxLength: 6 }),
    endsData: fc.boolean(),
    endsChannel: fc.boolean(),
  });
}

function elementsOf({ parts, endsData, endsChannel }: ChannelPlan, channel: number): readonly Element[] {
  let position = 0;
  const elements: Element[] = [];
  for (const [i, { batches, word }] of parts.entries()) {
    for (const size of batches) {
      elements.push(batch(Array.from({ length: size }, (): Tag => `${channel}:${position++}`)));
    }
    if (word === 'barrier') elements.push(barrier(i + 1));
    if (word === 'cancel') elements.push(cancelMarker(i + 1));
  }
  if (endsData) elements.push(END_OF_DATA);
  if (endsChannel) elements.push(END_OF_CHANNEL);
  return elements;
}

/** Every element and completion in the order of the script. */
export function play({ channels, turns }: Script, send: (channel: number, element: Element | undefined) => void): void {
  const positions = channels.map(() => 0);
  const advance = (channel: number): void => {
    const position = positions[channel]!++;
    const elements = channels[channel]!;
    if (position <= elements.length) send(channel, elements[position]);
  };
  for (const channel of turns) advance(channel);
  for (const [channel, elements] of channels.entries()) {
    while (positions[channel]! <= elements.length) advance(channel);
  }
}

/** How many records of the channel belong before the barrier: all of them if it ended without having delivered it. */
export function cutOf(elements: readonly Element[], checkpointId: number): number {
  let records = 0;
  for (const element of elements) {
    if (element.kind === 'barrier' && element.checkpointId === checkpointId) return records;
    if (element.kind === 'batch') records += element.records.length;
  }
  return records;
}

export function recordsOf(elements: readonly Element[]): readonly Tag[] {
  return elements.flatMap((element) => (element.kind === 'batch' ? element.records : []));
}
