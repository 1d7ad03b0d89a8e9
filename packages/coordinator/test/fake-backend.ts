import {
  decodeMetadata,
  decodeReference,
  type CheckpointId,
  type RestorePlan,
  type SharedBlob,
} from '@weir/core/contracts';
import { sharedBlobsIn } from '../src/shared-blobs.js';
import type { Disk, DiskLocation } from './disk.js';
import type { FakeGateway } from './fake-gateway.js';
import { OUT, SOURCE, snapshotOf } from './plan.js';

/** The state backend of one attempt, whose state is a set of files: what it captures is made of the checkpoint it was last told is complete. */
export class FakeBackend {
  /** Names that were not used before. */
  static #names = 0;
  readonly gateway: FakeGateway;
  /** What it is made of, as of the last checkpoint that it knows to be complete. */
  base: readonly SharedBlob[];
  readonly #captured = new Map<CheckpointId, readonly SharedBlob[]>();

  constructor(gateway: FakeGateway, restore?: RestorePlan) {
    this.gateway = gateway;
    this.base = restore?.isOwned === true ? filesOf(restore) : [];
    gateway.commit = async (id) => {
      this.completed(id);
    };
  }

  completed(id: CheckpointId): void {
    this.base = this.#captured.get(id) ?? this.base;
  }

  /** Writes these, or one with a name of its own, beside those of the base that it keeps (all), and remembers them. */
  capture(id: CheckpointId, keys?: readonly string[], keeps: (blob: SharedBlob) => boolean = () => true): void {
    const location = this.gateway.locations.get(id) as DiskLocation;
    const written = (keys ?? [`f${String(++FakeBackend.#names)}`]).map((key) => location.writeShared(key));
    this.#captured.set(id, [...this.base.filter(keeps), ...written]);
  }

  /** Reports what was captured. */
  ack(id: CheckpointId, blobs: readonly SharedBlob[] = this.#captured.get(id) ?? []): void {
    this.gateway.ack(id, SOURCE);
    this.gateway.ack(id, OUT, {
      snapshot: { subtask: OUT, operators: [{ ...snapshotOf(OUT, id), keyed: [native(blobs)] }] },
    });
  }
}

function native(blobs: readonly SharedBlob[]) {
  const files = blobs.map((blob) => ({ name: blob.key, blob }));
  const range = { first: 0, last: 127 };
  const engine = { engine: 'fake', engineVersion: '1', options: {} };
  return { format: 'native' as const, range, ...engine, states: [], watermark: undefined, files };
}

function filesOf(restore: RestorePlan): readonly SharedBlob[] {
  const operators = [...restore.subtasks.values()].flat().map(({ keyed }) => ({ subtasks: [{ keyed }] }));
  return sharedBlobsIn({ operators: operators as never });
}

/** Which shared files the complete checkpoints on a disk are made of. */
export function needed(disk: Disk): readonly string[] {
  const paths = disk.complete.flatMap((id) => {
    try {
      const bytes = disk.folders.get(id)?.metadata ?? new Uint8Array();
      if (decodeReference(bytes, '') !== undefined) return [];
      return sharedBlobsIn(decodeMetadata(bytes, '')).map(({ path }) => path);
    } catch {
      // It is damaged, and needs nothing any more.
      return [];
    }
  });
  return [...new Set(paths)].sort();
}

/** Files without which a checkpoint that looks complete is not. */
export function missing(disk: Disk): readonly string[] {
  return needed(disk).filter((path) => !disk.shared.has(path));
}

/** Files that no checkpoint is made of. */
export function useless(disk: Disk): readonly string[] {
  return [...disk.shared].filter((path) => !needed(disk).includes(path));
}
