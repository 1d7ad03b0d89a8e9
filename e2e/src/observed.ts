import type {
  BlobWriter,
  CheckpointLocation,
  CheckpointStorage,
  JobStorage,
  Sink,
  StateBackend,
} from '@weir/core/contracts';
import { delegating } from '@weir/testkit';
import type { PhaseTeller } from './phases.js';

// The real plugins, with every step announced: they do what they always do.

export function observedStorage(storage: CheckpointStorage, phases: PhaseTeller): CheckpointStorage {
  return {
    type: storage.type,
    capabilities: storage.capabilities,
    open: async (scope) => observedJob(await storage.open(scope), phases),
  };
}

function observedJob(job: JobStorage, phases: PhaseTeller): JobStorage {
  return delegating(job, {
    create: async (checkpointId) => observedLocation(await job.create(checkpointId), phases),
    createSavepoint: async (checkpointId, directory) => {
      const location = await job.createSavepoint?.(checkpointId, directory);
      if (location === undefined) throw new Error('this storage has no savepoints');
      return observedLocation(location, phases);
    },
  });
}

function observedLocation(location: CheckpointLocation, phases: PhaseTeller): CheckpointLocation {
  return delegating(location, {
    createBlob: () => observedBlob(location.createBlob(), phases),
    publish: (metadata) => phases.during('publish', () => location.publish(metadata)),
  });
}

function observedBlob(blob: BlobWriter, phases: PhaseTeller): BlobWriter {
  return delegating(blob, {
    write: (chunk) => {
      phases.enter('write');
      const written = blob.write(chunk);
      phases.leave();
      return written;
    },
    finish: () => phases.during('write', () => blob.finish()),
  });
}

export function observedBackend(backend: StateBackend, phases: PhaseTeller): StateBackend {
  return {
    type: backend.type,
    capabilities: backend.capabilities,
    open: async (scope) => {
      const store = await backend.open(scope);
      return delegating(store, {
        capture: (request) => {
          phases.enter('capture');
          const capture = store.capture(request);
          phases.leave();
          return capture;
        },
      });
    },
  };
}

export function observedSink<T, K extends Sink<T>['grade'], C>(
  sink: Sink<T, K, C>,
  phases: PhaseTeller,
): Sink<T, K, C> {
  return delegating(sink, {
    committer: async (context) => {
      const committer = await sink.committer?.(context);
      if (committer === undefined) throw new Error('this sink commits nothing');
      return delegating(committer, {
        commit: (committables, signal) => phases.during('commit', () => committer.commit(committables, signal)),
      });
    },
  });
}
