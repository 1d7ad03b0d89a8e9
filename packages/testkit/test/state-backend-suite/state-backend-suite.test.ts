import { createReferenceStateBackend, runSuite, stateBackendSuite, type TestFunction } from '@weir/testkit';
import { describe, expect, test } from 'vitest';
import type { Flaw } from './flaw.js';
import { flawedStateBackend } from './flawed-state-backend.js';
import { incrementalStateBackend, type IncrementalFlaw } from './incremental-state-backend.js';

describe('the reference state backend', () => {
  stateBackendSuite(test, { create: createReferenceStateBackend, histories: 20 });
});

/** The tests whose titles begin like one of these. */
function only(register: TestFunction, titles: readonly string[]): TestFunction {
  return (name, body) => {
    if (titles.some((title) => name.startsWith(title))) register(name, body);
  };
}

const INCREMENTAL: Readonly<Record<IncrementalFlaw, string>> = {
  'goes on from what has not completed': 'stores again what an aborted checkpoint has stored',
  'does not say what was removed': 'goes on from what was restored, if that is its own',
  'goes on from what is not its own': 'stores everything again where what was restored is not its own',
  'goes on from what others have stored as well': 'stores what is in its own key groups and nothing else',
  'writes everything each time': 'stores only what has changed since the last completed checkpoint',
  'captures changes where everything is asked for':
    'gives everything in canonical rows where a full capture is asked for',
};

describe('a backend with incremental captures that compares everything', () => {
  stateBackendSuite(only(test, [...Object.values(INCREMENTAL), 'restores from any checkpoint']), {
    create: () => incrementalStateBackend(),
    histories: 5,
  });
});

describe('the state backend suite finds a backend that, incrementally,', () => {
  test.each(Object.entries(INCREMENTAL) as [IncrementalFlaw, string][])('%s', async (flaw, title) => {
    const { failed } = await runSuite((register) => {
      stateBackendSuite(only(register, [title]), { create: () => incrementalStateBackend(flaw) });
    });
    expect(failed).toHaveLength(1);
  });
});

describe('the state backend suite finds a backend that', () => {
  const found: Record<Flaw, string> = {
    'reads the state when it writes': 'shows in each capture the state at its moment, whatever happens',
    'shares objects with the state': 'does not see that an object is changed in place after the capture (small)',
    'shares lists with the state': 'does not see that lists grow after the capture (large)',
    'forgets what was cleared': 'does not see that maps are cleared after the capture (large)',
    'finds keys that came later': 'does not see keys that appear after the capture',
    'loses entries of maps': 'does not see that values are updated after the capture (small)',
    'writes groups in any order': 'does not see that values are cleared while it is written (small)',
    'overwrites what is not taken yet': 'leaves a section alone until it is taken, and gives no other before',
    'does not wait until a section is taken': 'leaves a section alone until it is taken, and gives no other before',
    'never pauses': 'asks for the next slice again and again while much is written',
    'does not stop when given up': 'goes on unharmed after a capture was given up while it was written',
    'releases all captures at once': 'leaves other captures alone when one is released',
    'takes falsy values for none': 'gives every value back as it was, the falsy ones too',
    'stores what is only read': 'gives what initial makes, anew each time, or undefined while nothing is stored',
    'mixes up keys that look alike': 'keeps the values of keys apart, however alike they look',
    'stays with the key it knows': 'works on the present key with handles that stay the same',
    'holds what it held before': 'knows which object a value state holds for the current key, where it says that',
    'fails the record': 'fails the capture, and not a record, for a value that cannot be encoded',
    'replaces rows instead of adding them': 'adds up the rows that it is given, in any number of sections',
    'takes rows of any serializer':
      'reads what an older version of the serializer wrote, and nothing that another one wrote',
    'takes rows of any kind': 'refuses rows of another kind of state',
    'takes keys of others': 'refuses a key of another subtask before anything of it is stored',
    'sweeps nothing away': 'sweeps away what is expired',
    'sweeps what lives': 'sweeps away what is expired',
    'can be used when closed': 'refuses any use after it is closed',
    'is always pressed': 'is never pressed, as its captures hold nothing of their own',
  };
  test.each(Object.entries(found) as [Flaw, string][])('%s', async (flaw, title) => {
    const { passed, failed } = await runSuite((register) => {
      stateBackendSuite(only(register, [title]), { create: () => flawedStateBackend(flaw), histories: 200 });
    });
    expect(failed.length, `tests that passed: ${passed.join('; ')}`).toBeGreaterThan(0);
  });

  test('claims to feel pressure and does not', async () => {
    const { failed } = await runSuite((register) => {
      stateBackendSuite(
        (name, body) => {
          if (name.startsWith('is pressed')) register(name, body);
        },
        { create: createReferenceStateBackend, pressedAbove: 10_000 },
      );
    });
    expect(failed).toHaveLength(1);
  });
});
