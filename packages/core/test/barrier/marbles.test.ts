import { align, overtake, track } from '@weir/core/barrier';
import type { StreamElement } from '@weir/core/barrier';
import type { Observable } from 'rxjs';
import { describe, test } from 'vitest';
import { diagram } from './elements.js';

type Channels = readonly Observable<StreamElement<string>>[];
const aligned = (channels: Channels) => align(channels, { maxBlocked: 100 });
const tracked = (channels: Channels) => track(channels);
const overtaken = (channels: Channels) => overtake(channels, { maxBuffered: 100, inFlight: () => undefined });

// elements.ts tells what the letters stand for. A group such as (1c) is one moment, and as wide as it is written.
describe('align', () => {
  test('holds back what follows a barrier until every channel has delivered it', () => {
    const left = '    a-1-c-------|';
    const right = '   --b---1---d-|';
    const expected = 'a-b---(1c)d-|';
    diagram([left, right], aligned, expected);
  });

  test('sends the barrier first, then what was held back, taking turns between the channels', () => {
    const left = '    1cd--------|';
    const middle = '  1ef--------|';
    const right = '   ----1------|';
    const expected = '----(1cedf)|';
    diagram([left, middle, right], aligned, expected);
  });

  test('meets the next barrier in what was held back, and goes on holding', () => {
    const left = '    12c------|';
    const right = '   ---1-2---|';
    const expected = '---1-(2c)|';
    diagram([left, right], aligned, expected);
  });

  test('gives a checkpoint up when a newer one overtakes it', () => {
    const left = '    1c-----2--|';
    const right = '   ---2------|';
    const expected = '---(Cc)2--|';
    diagram([left, right], aligned, expected);
  });

  test('passes a cancel marker on, once, and lets go of what was held back', () => {
    const left = '    1c----C-|';
    const right = '   --C-----|';
    const expected = '--(Cc)--|';
    diagram([left, right], aligned, expected);
  });

  test('ignores the barrier of a cancelled checkpoint', () => {
    const left = '    C-----|';
    const right = '   -b-1-c|';
    const expected = 'Cb---c|';
    diagram([left, right], aligned, expected);
  });

  test('takes the end of a channel for its barrier', () => {
    const left = '    1c------|';
    const right = '   -b-|     ';
    const expected = '-b-(1c)-|';
    diagram([left, right], aligned, expected);
  });

  test('needs no barrier from a channel that has ended', () => {
    const left = '    |       ';
    const middle = '  -1c-----|';
    const right = '   ---1----|';
    const expected = '---(1c)-|';
    diagram([left, middle, right], aligned, expected);
  });

  test('holds the end of a channel back with the rest', () => {
    const left = '    1c(z|)      ';
    const right = '   -----1----(z|)';
    const expected = '-----(1c)-(z|)';
    diagram([left, right], aligned, expected);
  });

  test('passes barriers after the end of data', () => {
    const left = '    ax--1---(z|)';
    const right = '   --x---1-(z|)';
    const expected = 'a-x---1-(z|)';
    diagram([left, right], aligned, expected);
  });

  test('ends the data without draining if one channel stops without draining', () => {
    diagram(['x---', '--y-'], aligned, '--y-');
    diagram(['--x-', 'y---'], aligned, '--y-');
  });

  test('marks an end if some channel did, and invents no marks', () => {
    diagram(['a-|  ', '-b--|'], aligned, 'ab--|');
    diagram(['a-(xz|)', '-b---|'], aligned, 'ab---(xz|)');
  });

  test('has the smallest watermark of its channels, and never an older one', () => {
    const left = '    u--w-u-|';
    const right = '   -v--w--|';
    const expected = '-u-vw--|';
    diagram([left, right], aligned, expected);
  });

  test('takes no notice of a watermark that goes back', () => {
    const left = '    u-v-u---';
    const right = '   v----w--';
    const expected = 'u-v-----';
    diagram([left, right], aligned, expected);
  });

  test('holds watermarks of a blocked channel back, of several in a row the last', () => {
    const left = '    1uv-----';
    const right = '   w---1---';
    const expected = '----(1v)';
    diagram([left, right], aligned, expected);
  });

  test('does not wait for the watermark of an idle channel, and is idle when all are', () => {
    const left = '    u-i-j--';
    const right = '   v--i---';
    const expected = 'u-vij--';
    diagram([left, right], aligned, expected);
  });

  test('is as far as the furthest channel once all are idle', () => {
    const left = '    v-i---';
    const right = '   u---i-';
    const expected = 'u---(vi)';
    diagram([left, right], aligned, expected);
  });

  test('keeps the watermark of an idle channel for when it is active again', () => {
    const only = '    i-u-j---';
    const expected = 'i---(ju)';
    diagram([only], aligned, expected);
  });

  test('lets a channel that was idle catch up before its watermark counts', () => {
    const left = '    i----ju----w-';
    const right = '   -u-v----w----';
    const expected = '-u-v----w----';
    diagram([left, right], aligned, expected);
  });

  test('does not wait for the watermark of a drained channel, but for that of a stopped one', () => {
    diagram(['ux-----', '---v---'], aligned, '---v---');
    diagram(['uy-----', '---v---'], aligned, '---u---');
    diagram(['u|     ', '---v--|'], aligned, '---v--|');
  });

  test('fails as soon as one channel fails', () => {
    const left = '    a-1c-----';
    const right = '   --b--#   ';
    const expected = 'a-b--#   ';
    diagram([left, right], aligned, expected, 'failed');
  });

  test('of one channel is that channel', () => {
    diagram(['a1b2xC3z'], aligned, 'a1b2x-3(z|)');
  });
});

describe('track', () => {
  test('lets everything through, and a barrier when the last channel delivers it', () => {
    const left = '    a-1-c-----|';
    const right = '   --b---1-d-|';
    const expected = 'a-b-c-1-d-|';
    diagram([left, right], tracked, expected);
  });

  test('completes an older checkpoint although a newer one has begun', () => {
    const left = '    1-2---|';
    const right = '   ---1-2|';
    const expected = '---1-2|';
    diagram([left, right], tracked, expected);
  });

  test('drops a checkpoint that a newer one has overtaken everywhere', () => {
    const left = '    1-2--|';
    const right = '   ---2-|';
    const expected = '---2-|';
    diagram([left, right], tracked, expected);
  });

  test('passes a cancel marker on, once, and for every older checkpoint too', () => {
    const left = '    1-D---D|';
    const right = '   ----C-2|';
    const expected = '--(CD)-|';
    diagram([left, right], tracked, expected);
  });

  test('takes the end of a channel for its barrier', () => {
    const left = '    1c---d-|';
    const right = '   --b|    ';
    const expected = '-cb1-d-|';
    diagram([left, right], tracked, expected);
  });
});

describe('overtake', () => {
  test('emits a barrier when the first channel delivers it, and holds nothing back', () => {
    const left = '    a-1-c-----|';
    const right = '   ---b---1-d|';
    const expected = 'a-1bc----d|';
    diagram([left, right], overtaken, expected);
  });

  test('gives a checkpoint up when a newer one overtakes it', () => {
    const left = '    1-c---2--|';
    const right = '   ---b2----|';
    const expected = '1-cb(C2)-|';
    diagram([left, right], overtaken, expected);
  });

  test('passes a cancel marker on although the barrier has gone', () => {
    const left = '    1-c----|';
    const right = '   ---b-C-|';
    const expected = '1-cb-C-|';
    diagram([left, right], overtaken, expected);
  });

  test('takes the end of a channel for its barrier', () => {
    const left = '    1-c---2|';
    const right = '   -b-|    ';
    const expected = '1bc---2|';
    diagram([left, right], overtaken, expected);
  });
});
