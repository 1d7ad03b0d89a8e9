import { fc, test as property } from '@fast-check/vitest';
import { describe, expect, test } from 'vitest';
import { Channel, CHANNEL_CAPACITY } from '../../src/channel/channel.js';
import {
  barrier,
  batch,
  END_OF_CHANNEL,
  END_OF_DATA,
  type Barrier,
  type StreamElement,
} from '../../src/element/element.js';

function consumed<T>(channel: Channel<T>): StreamElement<T>[] {
  const elements: StreamElement<T>[] = [];
  channel.subscribe((element) => elements.push(element));
  return elements;
}
const records = (count: number): readonly number[] => Array.from({ length: count }, (_, i) => i);

describe('a channel', () => {
  test('hands over one element for each request, in the order they were sent', () => {
    const channel = new Channel<number>();
    const elements = consumed(channel);
    const sent = [batch([1]), barrier(1), batch([2, 3]), END_OF_DATA, barrier(2), END_OF_CHANNEL];
    for (const element of sent) channel.send(element);
    expect(elements).toEqual([]);
    for (let taken = 1; taken <= sent.length; taken++) {
      expect(channel.request()).toBe(true);
      expect(elements).toEqual(sent.slice(0, taken));
    }
    expect(channel.request()).toBe(false);
  });

  test('withdraws demand once its buffer is full, and asks again when it is half empty', () => {
    const channel = new Channel<number>(100);
    consumed(channel);
    const demand: boolean[] = [];
    channel.demand$.subscribe((has) => demand.push(has));
    for (let i = 0; i < 9; i++) channel.send(batch(records(10)));
    channel.send(batch(records(9)));
    expect(demand).toEqual([true]);
    channel.send(batch(records(1)));
    expect(demand).toEqual([true, false]);
    for (let i = 0; i < 4; i++) channel.request();
    expect(channel.bufferedRecords).toBe(60);
    expect(channel.hasDemand).toBe(false);
    channel.request();
    expect(demand).toEqual([true, false, true]);
  });

  test('takes control elements and the batch in front of them without demand, and counts only records', () => {
    const channel = new Channel<number>(10);
    consumed(channel);
    channel.send(batch(records(10)));
    expect(channel.hasDemand).toBe(false);
    channel.send(batch(records(3)));
    channel.send(barrier(1));
    channel.send({ kind: 'watermark', time: 5 });
    expect(channel.bufferedRecords).toBe(13);
    expect(channel.hasDemand).toBe(false);
  });

  test('has one consumer: a second one gets an error, the first goes on', () => {
    const channel = new Channel<number>();
    const elements = consumed(channel);
    let refused: unknown;
    channel.subscribe({
      error: (error: unknown) => {
        refused = error;
      },
    });
    expect(refused).toMatchObject({ code: 'PROTOCOL_VIOLATION' });
    channel.send(batch([1]));
    channel.request();
    expect(elements).toEqual([batch([1])]);
  });

  test('wakes its consumer when an element comes into an empty buffer, and only then', () => {
    const channel = new Channel<number>();
    consumed(channel);
    let woken = 0;
    channel.onArrival = () => woken++;
    channel.send(batch([1]));
    channel.send(barrier(1));
    expect(woken).toBe(1);
    channel.request();
    channel.send(batch([2]));
    expect(woken).toBe(1);
    channel.request();
    channel.request();
    channel.send(barrier(2));
    expect(woken).toBe(2);
  });

  test('may be filled again by whoever hears that it has room', () => {
    const channel = new Channel<number>(4);
    const elements = consumed(channel);
    let next = 0;
    channel.demand$.subscribe((has) => {
      while (has && channel.hasDemand && next < 40) channel.send(batch([next++]));
    });
    while (channel.request());
    expect(elements.map((element) => (element.kind === 'batch' ? element.records[0] : undefined))).toEqual(records(40));
    expect(channel.isEmpty).toBe(true);
  });

  type Step = 'batch' | 'barrier' | 'request';
  property.prop(
    [
      fc.array(fc.constantFrom<Step>('batch', 'barrier', 'request', 'request'), {
        maxLength: 6000,
        minLength: 3000,
        size: 'max',
      }),
    ],
    {
      numRuns: 20,
    },
  )(
    'never holds more than its capacity and one batch, and loses nothing, however long it is never quite empty',
    (steps) => {
      const channel = new Channel<number>(50);
      const elements = consumed(channel);
      const sent: StreamElement<number>[] = [barrier(0)];
      channel.send(barrier(0));
      let most = 0;
      for (const [i, step] of steps.entries()) {
        const element = step === 'batch' ? batch(records(1 + (i % 20))) : barrier(i + 1);
        if (step === 'request') {
          if (sent.length - elements.length > 1) channel.request();
        } else if (step === 'barrier' || channel.hasDemand) {
          channel.send(element);
          sent.push(element);
        }
        most = Math.max(most, channel.bufferedRecords);
        const queued = sent.slice(elements.length);
        expect(channel.nextKind).toBe(queued[0]?.kind);
      }
      while (channel.request());
      expect(elements).toEqual(sent);
      expect(most).toBeLessThan(50 + 20);
    },
  );

  test('holds a few thousand records, so that a producer fills whole batches while the consumer works', () => {
    const channel = new Channel<number>();
    channel.send(batch(records(CHANNEL_CAPACITY - 1)));
    expect(channel.hasDemand).toBe(true);
    channel.send(batch([1]));
    expect(channel.hasDemand).toBe(false);
  });
});

describe('a barrier that overtakes', () => {
  const overtaking = (id: number): Barrier => ({ ...barrier(id), overtakesAfter: 0 });
  const timeoutable = (id: number): Barrier => ({ ...barrier(id), overtakesAfter: 7 });

  test('is beside the buffer, with what was sent before it and is still there', () => {
    const channel = new Channel<number>();
    const elements = consumed(channel);
    for (const n of [1, 2, 3]) channel.send(batch([n]));
    channel.request();
    channel.overtake(overtaking(1));
    channel.send(batch([4]));
    channel.request();
    expect(channel.takeOvertaking()).toEqual({ barrier: overtaking(1), overtaken: [batch([3])] });
    expect(channel.takeOvertaking()).toBeUndefined();
    while (channel.request());
    expect(elements).toEqual([1, 2, 3, 4].map((n) => batch([n])));
  });

  test('has overtaken nothing that is gone, and never what came after it', () => {
    const channel = new Channel<number>();
    consumed(channel);
    channel.send(batch([1]));
    channel.overtake(overtaking(1));
    channel.send(batch([2]));
    while (channel.request());
    expect(channel.takeOvertaking()?.overtaken).toEqual([]);
  });

  test('leaves other control elements where they are: they are no part of a checkpoint', () => {
    const channel = new Channel<number>();
    const elements = consumed(channel);
    channel.send({ kind: 'watermark', time: 1 });
    channel.send(batch([1]));
    channel.send(END_OF_DATA);
    channel.overtake(overtaking(1));
    expect(channel.takeOvertaking()?.overtaken).toEqual([batch([1])]);
    while (channel.request());
    expect(elements.map(({ kind }) => kind)).toEqual(['watermark', 'batch', 'end-of-data']);
  });

  test('may have waited in the buffer until its time was over', () => {
    const channel = new Channel<number>();
    const elements = consumed(channel);
    const heard: string[] = [];
    channel.onBarrier = ({ checkpointId }) => heard.push(`barrier ${checkpointId}`);
    channel.onOvertaking = () => heard.push('overtaking');
    channel.send(batch([1]));
    channel.send(timeoutable(1));
    channel.send(batch([2]));
    expect(channel.letOvertake(2)).toBe(false);
    expect(channel.letOvertake(1)).toBe(true);
    expect(channel.letOvertake(1)).toBe(false);
    expect(heard).toEqual(['barrier 1', 'overtaking']);
    expect(channel.takeOvertaking()).toEqual({ barrier: overtaking(1), overtaken: [batch([1])] });
    while (channel.request());
    expect(elements).toEqual([batch([1]), batch([2])]);
  });

  test('stays in the buffer if it may never overtake', () => {
    for (const stays of [
      barrier(1),
      { ...barrier(1, 0, 'savepoint'), overtakesAfter: 7 },
      { ...timeoutable(1), isForcedAligned: true },
    ]) {
      const channel = new Channel<number>();
      channel.send(stays);
      expect(channel.letOvertake(1)).toBe(false);
      expect(channel.takeOvertaking()).toBeUndefined();
    }
  });

  type Step = 'batch' | 'request' | 'overtake' | 'wait' | 'let' | 'take';
  property.prop([fc.array(fc.constantFrom<Step>('batch', 'batch', 'request', 'overtake', 'wait', 'let', 'take'))])(
    'divides what was sent where it was sent, whatever has been taken and whichever else has overtaken',
    (steps) => {
      const channel = new Channel<number>();
      const elements = consumed(channel);
      let next = 0;
      const sentBefore = new Map<number, number>();
      const waiting: number[] = [];
      const got = (): number => elements.flatMap((e) => (e.kind === 'batch' ? e.records : [])).length;
      const take = (): void => {
        const taken = channel.takeOvertaking();
        if (taken === undefined) return;
        const overtaken = taken.overtaken.flatMap(({ records: all }) => all);
        const cut = sentBefore.get(taken.barrier.checkpointId) as number;
        expect(overtaken).toEqual(records(Math.max(cut, got())).slice(got()));
      };
      for (const [id, step] of steps.entries()) {
        switch (step) {
          case 'batch':
            channel.send(batch([next++, next++]));
            break;
          case 'request':
            channel.request();
            break;
          case 'overtake':
          case 'wait':
            sentBefore.set(id, next);
            if (step === 'overtake') channel.overtake(overtaking(id));
            else {
              channel.send(timeoutable(id));
              waiting.push(id);
            }
            break;
          case 'let': {
            const late = waiting.shift();
            if (late !== undefined) channel.letOvertake(late);
            break;
          }
          case 'take':
            take();
        }
      }
      while (channel.request());
      expect(elements.flatMap((e) => (e.kind === 'batch' ? e.records : []))).toEqual(records(next));
    },
  );
});

describe('a channel whose producer has finished', () => {
  test('takes a barrier in front of its end, until that is taken', () => {
    const channel = new Channel<number>();
    const elements = consumed(channel);
    for (const element of [batch([1]), END_OF_DATA, END_OF_CHANNEL]) channel.send(element);
    channel.beforeEnd(() => {
      channel.send(barrier(1));
    });
    while (channel.request());
    expect(elements).toEqual([batch([1]), END_OF_DATA, barrier(1), END_OF_CHANNEL]);
    channel.beforeEnd(() => {
      channel.send(barrier(2));
    });
    expect(channel.isEmpty).toBe(true);
  });

  test('lets one overtake what was sent, which then is in flight', () => {
    const channel = new Channel<number>();
    const elements = consumed(channel);
    for (const element of [batch([1]), batch([2]), END_OF_DATA, END_OF_CHANNEL]) channel.send(element);
    channel.request();
    const overtaking: Barrier = { ...barrier(1), overtakesAfter: 0 };
    channel.beforeEnd(() => {
      channel.overtake(overtaking);
    });
    expect(channel.takeOvertaking()).toEqual({ barrier: overtaking, overtaken: [batch([2])] });
    while (channel.request());
    expect(elements).toEqual([batch([1]), batch([2]), END_OF_DATA, END_OF_CHANNEL]);
  });

  test('is none before it has sent its end', () => {
    const channel = new Channel<number>();
    channel.send(batch([1]));
    channel.beforeEnd(() => {
      channel.send(barrier(1));
    });
    expect(channel.nextKind).toBe('batch');
    expect(channel.bufferedRecords).toBe(1);
  });

  test('drops everything once its consumer has finished too', () => {
    const channel = new Channel<number>();
    channel.send(batch([1]));
    channel.abandon();
    channel.send(barrier(1));
    channel.overtake({ ...barrier(2), overtakesAfter: 0 });
    channel.send(END_OF_CHANNEL);
    expect([channel.isEmpty, channel.takeOvertaking()]).toEqual([true, undefined]);
  });
});
