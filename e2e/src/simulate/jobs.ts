import { createFsStorage } from '@weir/backend-fs';
import { memoryState, memoryStorage } from '@weir/backend-memory';
import { rocksState } from '@weir/backend-rocksdb';
import { checkpointCoordinator } from '@weir/coordinator';
import { CheckpointStorageRole, type Plugin, type PluginList } from '@weir/core';
import type { Random } from '@weir/core/contracts';
import { fixedDelayRestart } from '@weir/restart-strategies';
import {
  CrashFileSystem,
  NAMES_WITHOUT_BYTES,
  randomJobs,
  tornBy,
  ZEROED_BYTES,
  type CrashOutcome,
  type MakeSimulatedJob,
} from '@weir/testkit';

/** Where the jobs of a simulation keep their keyed state. */
export const BACKENDS = ['memory', 'rocksdb'] as const;
export type Backend = (typeof BACKENDS)[number];

/**
 * Random jobs on the plugins of this repository. Three of five keep their checkpoints in memory, the others on a disk that forgets. Half of them
 * have incremental checkpoints.
 */
export const jobsOn = (backend: Backend): MakeSimulatedJob =>
  randomJobs((random) => {
    const restart = { attempts: Math.floor(random() * 4), delay: Math.floor(random() * 50) };
    const state = backend === 'rocksdb' ? rocksState({ cacheSize: '4 kb' }) : memoryState();
    const common = (): PluginList => [checkpointCoordinator(), state, fixedDelayRestart(restart)];
    if (random() < 0.6) return { plugins: () => [common(), memoryStorage()], incremental: true };
    const disk = forgetfulDisk(random);
    return {
      plugins: () => [common(), disk.storage()],
      savepointDirectory: '/savepoints',
      incremental: true,
      processDied: () => {
        disk.lose();
      },
    };
  });

export const jobs: MakeSimulatedJob = jobsOn('memory');

/** Checkpoints in files, each part in one of its own. When a process dies, half of the time the machine loses its power too. */
function forgetfulDisk(random: Random): { storage(): Plugin; lose(): void } {
  let fileSystem = new CrashFileSystem();
  let pid = 1000;
  let ids = 0;
  return {
    storage() {
      const self = { pid: ++pid, startedAt: '1', bootId: 'boot', pidNamespace: '1', host: 'h' };
      const newId = (): string => `id-${String(++ids)}`;
      // Of the processes of a run only the last one lives.
      const processes = { self, isAlive: (other: { readonly pid: number }) => other.pid === self.pid };
      return {
        name: 'forgetful-disk',
        install(binder) {
          binder.provide(CheckpointStorageRole, 'fs', () =>
            createFsStorage({ checkpointsDir: '/state', fileSystem, inlineThreshold: 0, newId, processes }),
          );
        },
      };
    },
    lose() {
      fileSystem = random() < 0.5 ? fileSystem.kill() : fileSystem.crash(outcome(random));
    },
  };
}

function outcome(random: Random): CrashOutcome {
  return [{}, NAMES_WITHOUT_BYTES, ZEROED_BYTES, tornBy(random)][Math.floor(random() * 4)] ?? {};
}
