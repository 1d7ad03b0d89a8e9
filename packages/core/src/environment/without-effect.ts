import type { CheckpointingCall, CheckpointingOfJob, RecoveryOptions } from './checkpoint-settings.js';
import type { Configuration } from './configuration.js';

/** Keys that concern checkpoints alone. */
const PREFIXES = [
  'execution.checkpointing.',
  'execution.state-recovery.',
  'weir.checkpointing.',
  'weir.state-recovery.',
];

interface Given {
  readonly call: CheckpointingCall | undefined;
  readonly configuration: Pick<Configuration, 'settings'>;
  readonly recovery: RecoveryOptions;
}

/** What was set and does nothing in this job, a sentence each. `settings` undefined: no checkpoints are taken. */
export function withoutEffect(
  { call, configuration, recovery }: Given,
  settings: CheckpointingOfJob | undefined,
): readonly string[] {
  if (settings === undefined) {
    const keys = [...configuration.settings.keys()].filter((key) => PREFIXES.some((prefix) => key.startsWith(prefix)));
    const options = Object.entries(recovery).flatMap(([name, value]) => (value === undefined ? [] : [name]));
    const idle = [...keys, ...options];
    if (idle.length === 0) return [];
    return [
      `No checkpoints are taken, so ${idle.join(', ')} ${has(idle)} no effect. Call env.enableCheckpointing(...) or set execution.checkpointing.interval.`,
    ];
  }
  const isGiven = (option: 'minPause' | 'localDirs', key: string): boolean =>
    call?.options?.[option] !== undefined || configuration.settings.has(key);
  const { intervalMs, minPauseMs, localCopies } = settings;
  return [
    ...(intervalMs === undefined && minPauseMs > 0 && isGiven('minPause', 'execution.checkpointing.min-pause')
      ? ['minPause has no effect: it keeps periodic checkpoints apart, and without an interval there are none.']
      : []),
    ...(!localCopies.areMade &&
    !localCopies.areUsed &&
    isGiven('localDirs', 'execution.checkpointing.local-backup.dirs')
      ? ['localDirs has no effect: it says where local copies lie, and neither localRecovery nor localBackup is on.']
      : []),
  ];
}

function has(names: readonly string[]): string {
  return names.length === 1 ? 'has' : 'have';
}
