import { describe, expect, test } from 'vitest';
import { LoopEnd, stagesOfLoop, type LoopMember } from '../../src/host/loop-end.js';
import { filter, iterate, map, rebalance } from '../../src/operators.js';
import { plan } from '../support/attempt-bench.js';
import { slowSink } from '../support/sinks.js';
import { splitSource } from '../support/split-source.js';

class Member implements LoopMember {
  quiet = false;
  timed = 0;
  ended = 0;
  isQuiet(): boolean {
    return this.quiet;
  }
  endTime(): void {
    this.timed++;
  }
  endLoop(): void {
    this.ended++;
  }
}

describe('the end of a loop', () => {
  test('comes when every member is quiet at one and the same look, to the heads alone and once', () => {
    const [first, second, body] = [new Member(), new Member(), new Member()];
    const end = new LoopEnd(new Set(), [first, second], [body]);
    first.quiet = second.quiet = true;
    end.look();
    body.quiet = true;
    second.quiet = false;
    end.look();
    expect([first.timed, second.timed]).toEqual([0, 0]);
    second.quiet = true;
    end.look();
    expect([first.timed, second.timed, body.timed]).toEqual([1, 1, 0]);
    // The last watermark made somebody emit.
    body.quiet = false;
    end.look();
    expect([first.ended, second.ended]).toEqual([0, 0]);
    body.quiet = true;
    end.look();
    end.look();
    expect([first.ended, second.ended, body.ended]).toEqual([1, 1, 0]);
  });
});

describe('the stages of a loop', () => {
  test('are those between its head and its feedback, with loops inside of it and without what is before or behind', () => {
    const described = plan((from) => {
      from(splitSource([[1]]), { uid: 'in' })
        .pipe(
          iterate<number, number>(
            (outer) => {
              const inner = outer.pipe(
                iterate<number, number>(
                  (input) => {
                    const worked = input.pipe(
                      rebalance(),
                      filter((n) => n > 0),
                    );
                    return {
                      feedback: worked.pipe(
                        rebalance(),
                        map((n) => n - 1),
                      ),
                      output: worked,
                    };
                  },
                  { uid: 'inner' },
                ),
              );
              return {
                feedback: inner.pipe(
                  rebalance(),
                  map((n) => n),
                ),
                output: inner.pipe(
                  rebalance(),
                  filter((n) => n > 1),
                ),
              };
            },
            { uid: 'outer' },
          ),
        )
        .to(
          slowSink<number>([], () => false),
          { uid: 'out' },
        );
    });
    const ofOuter = [...stagesOfLoop(described, 'outer')].toSorted();
    const ofInner = [...stagesOfLoop(described, 'inner')].toSorted();
    expect(ofInner).toEqual(['filter-3', 'inner', 'map-4']);
    expect(ofOuter).toEqual(['filter-3', 'inner', 'map-4', 'map-5', 'outer']);
  });
});
