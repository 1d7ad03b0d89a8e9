import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { CONFIG_KEYS, RENAMED_KEYS } from '../../src/environment/config-keys.js';
import { readConfiguration } from '../../src/environment/configuration.js';
import { familyOf, KEY_FAMILIES, type KeyFamily } from '../../src/environment/key-families.js';
import type { ConfigKey } from '../../src/environment/config-key.js';
import { formatValue, readValue, type Range, type ValueType } from '../../src/environment/value-type.js';

const C = 'execution.checkpointing.';
const R = 'execution.state-recovery.';
const E = 'restart-strategy.exponential-delay.';

/** Flink's keys with the names that they had, from its options classes. */
const FLINK: Readonly<Record<string, readonly string[]>> = {
  [`${C}interval`]: [],
  [`${C}mode`]: [],
  [`${C}timeout`]: [],
  [`${C}min-pause`]: [],
  [`${C}max-concurrent-checkpoints`]: [],
  [`${C}tolerable-failed-checkpoints`]: [],
  [`${C}interval-during-backlog`]: [],
  [`${C}externalized-checkpoint-retention`]: [],
  [`${C}unaligned.enabled`]: [`${C}unaligned`],
  [`${C}aligned-checkpoint-timeout`]: [`${C}alignment-timeout`],
  [`${C}unaligned.forced`]: [],
  [`${C}unaligned.interruptible-timers.enabled`]: [],
  [`${C}unaligned.max-subtasks-per-channel-state-file`]: [],
  [`${C}unaligned.recover-output-on-downstream.enabled`]: [],
  [`${C}unaligned.during-recovery.enabled`]: [],
  [`${C}checkpoints-after-tasks-finish`]: [`${C}checkpoints-after-tasks-finish.enabled`],
  [`${C}storage`]: ['state.checkpoint-storage'],
  [`${C}dir`]: ['state.checkpoints.dir', 'state.backend.fs.checkpointdir'],
  [`${C}savepoint-dir`]: ['state.savepoints.dir', 'savepoints.state.backend.fs.dir'],
  [`${C}create-subdir`]: ['state.checkpoints.create-subdir'],
  [`${C}num-retained`]: ['state.checkpoints.num-retained'],
  [`${C}incremental`]: ['state.backend.incremental'],
  [`${C}data-inline-threshold`]: ['state.storage.fs.memory-threshold', 'state.backend.fs.memory-threshold'],
  [`${C}write-buffer-size`]: ['state.storage.fs.write-buffer-size', 'state.backend.fs.write-buffer-size'],
  [`${C}cleaner.parallel-mode`]: ['state.checkpoint.cleaner.parallel-mode'],
  [`${C}local-backup.enabled`]: [],
  [`${C}local-backup.dirs`]: ['taskmanager.state.local.root-dirs'],
  [`${C}file-merging.enabled`]: [],
  [`${C}file-merging.across-checkpoint-boundary`]: [],
  [`${C}file-merging.max-file-size`]: [],
  [`${C}file-merging.pool-blocking`]: [],
  [`${C}file-merging.max-subtasks-per-file`]: [],
  [`${C}file-merging.max-space-amplification`]: [],
  [`${C}region.enabled`]: [],
  [`${C}region.max-consecutive-failures`]: [],
  [`${C}region.max-failure-ratio`]: [],
  [`${C}prefer-checkpoint-for-recovery`]: [],
  'state.backend.async': [],
  [`${R}path`]: ['execution.savepoint.path'],
  [`${R}ignore-unclaimed-state`]: ['execution.savepoint.ignore-unclaimed-state'],
  [`${R}claim-mode`]: ['execution.savepoint-restore-mode'],
  [`${R}from-local`]: ['state.backend.local-recovery'],
  [`${R}without-channel-state.checkpoint-id`]: [`${C}recover-without-channel-state.checkpoint-id`],
  'state.backend.type': ['state.backend'],
  'restart-strategy.type': ['restart-strategy'],
  'restart-strategy.fixed-delay.attempts': [],
  'restart-strategy.fixed-delay.delay': [],
  'restart-strategy.failure-rate.max-failures-per-interval': [],
  'restart-strategy.failure-rate.failure-rate-interval': [],
  'restart-strategy.failure-rate.delay': [],
  [`${E}initial-backoff`]: [],
  [`${E}max-backoff`]: [],
  [`${E}backoff-multiplier`]: [],
  [`${E}jitter-factor`]: [],
  [`${E}reset-backoff-threshold`]: [],
  [`${E}attempts-before-reset-backoff`]: [],
  'jobmanager.execution.failover-strategy': [],
};

describe('the table of configuration keys', () => {
  test.each(Object.entries(FLINK))('has %s with the names that it had', (key, was) => {
    expect(CONFIG_KEYS.get(key)?.was ?? []).toEqual(was);
  });

  test('has the values that Flink has where nothing is set', () => {
    const ofKey = (key: string): unknown => {
      const entry = CONFIG_KEYS.get(key);
      return entry?.status === 'supported' ? entry.default : undefined;
    };
    expect([`${C}mode`, `${C}timeout`, `${C}min-pause`, `${C}max-concurrent-checkpoints`].map(ofKey)).toEqual([
      'exactly-once',
      600_000,
      0,
      1,
    ]);
    expect(
      [
        `${C}tolerable-failed-checkpoints`,
        `${C}num-retained`,
        `${C}data-inline-threshold`,
        `${C}write-buffer-size`,
      ].map(ofKey),
    ).toEqual([0, 1, 20 * 1024, 4096]);
    expect(
      [`${E}initial-backoff`, `${E}max-backoff`, `${E}backoff-multiplier`, `${E}jitter-factor`].map(ofKey),
    ).toEqual([1000, 60_000, 1.5, 0.1]);
    expect(ofKey(`${E}reset-backoff-threshold`)).toBe(3_600_000);
  });

  test('has defaults that its own types accept', () => {
    for (const [key, entry] of CONFIG_KEYS) {
      if (entry.status !== 'supported' || entry.default === undefined) continue;
      expect([key, readValue(entry.type, entry.default)]).toEqual([key, { ok: true, value: entry.default }]);
    }
  });

  test('gives each name, old or new, to one key', () => {
    const names = [...CONFIG_KEYS].flatMap(([key, { was = [] }]) => [key, ...was]);
    expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
    expect(RENAMED_KEYS.size).toBe(names.length - CONFIG_KEYS.size);
  });

  test('knows every key of Flink 1.20 and 2.3', () => {
    const list = readFileSync(new URL('flink-keys.txt', import.meta.url), 'utf8')
      .trim()
      .split('\n');
    expect(list.length).toBeGreaterThan(900);
    const unknown = list.filter(
      (key) => !CONFIG_KEYS.has(key) && !RENAMED_KEYS.has(key) && familyOf(key) === undefined,
    );
    expect(unknown).toEqual([]);
  });

  test('has no family that hides a key which works under another name', () => {
    for (const key of [
      'taskmanager.state.local.root-dirs',
      'task.cancellation.timeout',
      'state.backend.rocksdb.localdir',
    ])
      expect(readConfiguration({ [key]: '1 s' }).settings.size).toBe(1);
  });

  test('is the one that docs/configuration.md shows', () => {
    const page = readFileSync(new URL('../../../../docs/configuration.md', import.meta.url), 'utf8');
    for (const kind of ['cluster', 'never'] as const) {
      const [, shown = ''] = new RegExp(`<!-- families: ${kind} -->\n\n([^]*?)\n\n<!-- end -->`).exec(page) ?? [];
      expect(shown).toBe(tableOfFamilies(kind));
    }
    for (const status of ['supported', 'later', 'never'] as const) {
      const [, shown = ''] = new RegExp(`<!-- keys: ${status} -->\n\n([^]*?)\n\n<!-- end -->`).exec(page) ?? [];
      expect(shown).toBe(tableOf(status));
    }
  });
});

function tableOfFamilies(kind: KeyFamily['kind']): string {
  const byAbout = groupBy(
    KEY_FAMILIES.filter((family) => family.kind === kind),
    ({ about }) => about,
  );
  const rows = [...byAbout].map(([about, families]) => [
    families.map(({ prefix }) => `\`${prefix}\``).join(' '),
    `${about}.`,
  ]);
  return prettyTable([['keys that begin with', kind === 'cluster' ? 'are about' : 'instead'], ...rows]);
}

function tableOf(status: ConfigKey['status']): string {
  const head = status === 'supported' ? ['key', 'value', 'default', 'meaning'] : ['key', 'instead'];
  const rows = [...CONFIG_KEYS]
    .filter(([, entry]) => entry.status === status)
    .map(([key, entry]) => {
      const { about, was = [] } = entry;
      const before = was.length === 0 ? '' : ` Was ${was.map((old) => `\`${old}\``).join(', ')}.`;
      if (entry.status === 'supported') {
        return [
          `\`${key}\``,
          typeText(entry.type),
          entry.default === undefined ? '' : defaultText(entry.type, entry.default),
          about + before,
        ];
      }
      const accepted = entry.alwaysAs === undefined ? '' : ` \`${String(entry.alwaysAs)}\` is accepted.`;
      return [`\`${key}\``, `${about}.${before}${accepted}`];
    });
  return prettyTable([head, ...rows]);
}

function typeText(type: ValueType): string {
  switch (type.kind) {
    case 'duration':
    case 'memory-size':
      return [type.kind.replace('-', ' '), ...rangeText(type, type)].join(', ');
    case 'count':
      return ['whole number', ...rangeText(type, type), ...(type.orInfinity ? ['or `infinite`'] : [])].join(', ');
    case 'number':
      return ['number', ...rangeText(type, type)].join(', ');
    case 'one-of':
      return Object.keys(type.names)
        .map((name) => `\`${name}\``)
        .join(', ');
    case 'boolean':
    case 'text':
      return type.kind;
    default:
      return type satisfies never;
  }
}

function rangeText(type: ValueType, { min, max, above, below }: Range): readonly string[] {
  const limits = [
    ['at least', min],
    ['at most', max],
    ['more than', above],
    ['less than', below],
  ] as const;
  return limits.flatMap(([text, limit]) => (limit === undefined ? [] : [`${text} ${formatValue(type, limit)}`]));
}

function defaultText(type: ValueType, value: unknown): string {
  const flink = type.kind === 'one-of' ? Object.entries(type.names).find(([, weir]) => weir === value)?.[0] : undefined;
  return flink === undefined ? formatValue(type, value) : `\`${flink}\``;
}

/** A Markdown table with columns of equal width, as the formatter leaves it. */
function prettyTable([head = [], ...rows]: readonly (readonly string[])[]): string {
  const widths = head.map((_, i) => Math.max(3, ...[head, ...rows].map((row) => row[i]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}
