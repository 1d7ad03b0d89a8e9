import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createFsStorage } from '@weir/backend-fs';
import { localFileSystem, type FileSystem } from '@weir/core/contracts';
import { CrashFileSystem, checkpointStorageSuite, type CheckpointStorageFixture, type Damage } from '@weir/testkit';
import { describe, test } from 'vitest';
import { FakeProcesses } from './fixtures/processes.js';

const capabilities = { durable: true, locks: true, savepoints: true, sharedFiles: true };

function fixtureOn(fileSystem: FileSystem, checkpointsDir: string): CheckpointStorageFixture {
  const processes = new FakeProcesses();
  const first = processes.start();
  return {
    storage: createFsStorage({ checkpointsDir, fileSystem, processes: first }),
    anotherProcess: () => createFsStorage({ checkpointsDir, fileSystem, processes: processes.start() }),
    killFirst: () => {
      first.die();
    },
    savepoints: {
      directory: join(dirname(checkpointsDir), 'savepoints'),
      async move(pointer) {
        const moved = join(dirname(checkpointsDir), 'moved');
        await fileSystem.rename(pointer, moved);
        return moved;
      },
    },
    damage: (checkpoint, blob, damage) =>
      harm(fileSystem, join(checkpoint.pointer, blob.kind === 'shared' ? '../shared' : '', blob.path), damage),
  };
}

async function harm(fs: FileSystem, path: string, damage: Damage): Promise<void> {
  const bytes = await fs.readFile(path);
  await fs.remove(path);
  if (damage === 'removed') return;
  const file = await fs.open(path, 'create');
  if (damage === 'changed') bytes[bytes.length >> 1]! ^= 1;
  await file.write(damage === 'shortened' ? bytes.subarray(0, -1) : bytes);
  if (damage === 'lengthened') await file.write(Uint8Array.of(0));
  await file.close();
}

describe('fs storage in memory', () => {
  checkpointStorageSuite(test, {
    capabilities,
    create: () => fixtureOn(new CrashFileSystem(), '/data/checkpoints'),
  });
});

describe('fs storage on the local disk', () => {
  checkpointStorageSuite(test, {
    capabilities,
    async create() {
      const root = await mkdtemp(join(tmpdir(), 'weir-fs-'));
      const fixture = fixtureOn(localFileSystem(), join(root, 'checkpoints'));
      return { ...fixture, dispose: () => rm(root, { recursive: true, force: true }) };
    },
  });
});
