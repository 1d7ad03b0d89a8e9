import type { RestoreFrom, StoredCheckpoint } from '@weir/core/contracts';
import { describe, expect, test } from 'vitest';
import { admit, chooseRecovery, type Found, type RestoreChoice } from '../src/recovery-choice.js';
import { Process } from './harness.js';
import { metadataOf, planOf } from './plan.js';

const at = (id: number, complete = true): StoredCheckpoint => ({ id, pointer: `dir/chk-${String(id)}`, complete });
const ELSEWHERE: StoredCheckpoint = { id: 0, pointer: 'backup/x', complete: true };
const MARKER = { job: 'orders', lineage: 'l', attempt: 3, checkpointId: 9, finishedAt: 0, keptForUser: [] };

function choose(restoreFrom: RestoreFrom, found: Partial<Found>): unknown {
  try {
    const choice = chooseRecovery('orders', restoreFrom, {
      stored: [],
      finished: undefined,
      named: undefined,
      claimMode: 'no-claim',
      ...found,
    });
    switch (choice.kind) {
      case 'already-finished':
        return 'already finished';
      case 'fresh':
        return { fresh: choice.left.map((c) => c.id) };
      case 'restore': {
        const { checkpoint, isClaimed, keepsLineage, newer } = choice;
        const words = [isClaimed ? 'claimed' : "user's", keepsLineage ? 'same lineage' : 'new lineage'];
        return { restore: checkpoint.pointer, as: words.join(', '), newer };
      }
    }
  } catch (error) {
    return (error as { code: string }).code;
  }
}

describe('the choice', () => {
  test.each<[string, RestoreFrom, Partial<Found>, unknown]>([
    ['auto, nothing stored', 'auto', {}, { fresh: [] }],
    ['auto, only unfinished locations', 'auto', { stored: [at(1, false)] }, { fresh: [] }],
    [
      'auto, several',
      'auto',
      { stored: [at(3), at(4), at(5, false)] },
      { restore: 'dir/chk-4', as: 'claimed, same lineage', newer: undefined },
    ],
    [
      'auto, ids compared as numbers in whatever order',
      'auto',
      { stored: [at(10), at(9)] },
      { restore: 'dir/chk-10', as: 'claimed, same lineage', newer: undefined },
    ],
    ['auto, finished', 'auto', { finished: MARKER }, 'already finished'],
    ['auto, finished but not yet cleaned', 'auto', { finished: MARKER, stored: [at(9)] }, 'already finished'],
    ['latest, nothing stored', 'latest', {}, 'CHECKPOINT_NONE'],
    ['latest, only unfinished locations', 'latest', { stored: [at(1, false)] }, 'CHECKPOINT_NONE'],
    [
      'latest, several',
      'latest',
      { stored: [at(3), at(4)] },
      { restore: 'dir/chk-4', as: 'claimed, same lineage', newer: undefined },
    ],
    ['latest, finished', 'latest', { finished: MARKER, stored: [at(9)] }, 'CHECKPOINT_NONE'],
    ['none, nothing stored', 'none', {}, { fresh: [] }],
    ['none, several: they are left', 'none', { stored: [at(3), at(4), at(5, false)] }, { fresh: [3, 4] }],
    ['none, finished', 'none', { finished: MARKER }, { fresh: [] }],
    ['an id that is not there', { checkpointId: 7 }, { stored: [at(3)] }, 'CHECKPOINT_NONE'],
    ['an id that is not complete', { checkpointId: 4 }, { stored: [at(3), at(4, false)] }, 'CHECKPOINT_NONE'],
    [
      'the newest by its id',
      { checkpointId: 4 },
      { stored: [at(3), at(4)] },
      { restore: 'dir/chk-4', as: 'claimed, same lineage', newer: undefined },
    ],
    [
      'an older one by its id',
      { checkpointId: 3 },
      { stored: [at(3), at(4)] },
      { restore: 'dir/chk-3', as: "user's, new lineage", newer: 'checkpoint 4' },
    ],
    [
      'the newest by its path',
      { path: 'p' },
      { stored: [at(3), at(4)], named: at(4) },
      { restore: 'dir/chk-4', as: "user's, same lineage", newer: undefined },
    ],
    [
      'an older one by its path',
      { path: 'p' },
      { stored: [at(3), at(4)], named: at(3) },
      { restore: 'dir/chk-3', as: "user's, new lineage", newer: 'checkpoint 4' },
    ],
    [
      'a path elsewhere, nothing here',
      { path: 'p' },
      { named: ELSEWHERE },
      { restore: 'backup/x', as: "user's, new lineage", newer: undefined },
    ],
    [
      'a path elsewhere, something complete here',
      { path: 'p' },
      { stored: [at(4)], named: ELSEWHERE },
      { restore: 'backup/x', as: "user's, new lineage", newer: 'checkpoint 4' },
    ],
    [
      'the last checkpoint of a job that has finished, not yet removed',
      { path: 'p' },
      { finished: MARKER, stored: [at(9)], named: at(9) },
      { restore: 'dir/chk-9', as: "user's, new lineage", newer: 'the whole run, which has finished' },
    ],
    [
      'a path elsewhere of a job that has finished',
      { path: 'p' },
      { finished: MARKER, named: ELSEWHERE },
      { restore: 'backup/x', as: "user's, new lineage", newer: 'the whole run, which has finished' },
    ],
  ])('%s', (_title, restoreFrom, found, expected) => {
    expect(choose(restoreFrom, found)).toEqual(expected);
  });

  test('what is missing is named together with what there is', () => {
    expect(() =>
      chooseRecovery(
        'orders',
        { checkpointId: 7 },
        {
          stored: [at(3), at(4)],
          finished: undefined,
          named: undefined,
          claimMode: 'no-claim',
        },
      ),
    ).toThrow(/no completed checkpoint 7\. .*3, 4; choose one with restoreFrom \{ checkpoint: 4 \}/);
  });
});

describe('what was chosen is refused', () => {
  const older: RestoreChoice = {
    kind: 'restore',
    checkpoint: at(3),
    isClaimed: false,
    newer: 'checkpoint 4',
    keepsLineage: false,
  };
  const newest: RestoreChoice = { ...older, newer: undefined };
  type Grade = 'exactly-once' | 'idempotent' | 'at-least-once' | undefined;
  function attempt(choice: RestoreChoice, sinkGrade: Grade, allowDuplicates = false, job = 'orders'): string {
    const { context } = new Process({ job, plan: planOf({ sinkGrade }), settings: { allowDuplicates } });
    try {
      admit(choice, metadataOf({ checkpointId: 3 }), context);
      return 'admitted';
    } catch (error) {
      return (error as { code: string }).code;
    }
  }

  test.each<[string, RestoreChoice, Grade, boolean, string]>([
    ['the newest, whatever the sink', newest, 'exactly-once', false, 'admitted'],
    [
      'an older one with a transactional sink: what was committed stays',
      older,
      'exactly-once',
      false,
      'CHECKPOINT_NOT_NEWEST',
    ],
    ['an older one with a sink that shows replays', older, 'at-least-once', false, 'CHECKPOINT_NOT_NEWEST'],
    ['an older one with a sink for which writing again changes nothing', older, 'idempotent', false, 'admitted'],
    ['an older one without any sink', older, undefined, false, 'admitted'],
    ['an older one when duplicates are allowed', older, 'exactly-once', true, 'admitted'],
  ])('%s', (_title, choice, grade, allowDuplicates, expected) => {
    expect(attempt(choice, grade, allowDuplicates)).toBe(expected);
  });

  test('the checkpoint of another job', () => {
    expect(attempt(newest, 'exactly-once', false, 'payments')).toBe('CHECKPOINT_INCOMPATIBLE');
  });
});
