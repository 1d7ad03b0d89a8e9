import { fc, test as property } from '@fast-check/vitest';
import type { CommittableIdentity } from '@weir/core/contracts';
import { expect, test } from 'vitest';
import { EmittedCommittables } from '../../src/rxjs/emitted-committables.js';

const identity = (checkpointId: number, attempt = 1): CommittableIdentity => ({
  job: 'job',
  lineage: 'lineage',
  sink: 'sink',
  attempt,
  checkpointId,
  subtask: 0,
  sequence: checkpointId,
});

test('what was emitted is forgotten once a checkpoint that was prepared afterwards has completed, and not before', () => {
  const emitted = new EmittedCommittables();
  emitted.prepared(1);
  emitted.prepared(2);
  emitted.add(identity(1));
  emitted.completed(2);
  expect(emitted.has(identity(1))).toBe(true);
  emitted.prepared(3);
  emitted.completed(2);
  expect(emitted.has(identity(1))).toBe(true);
  emitted.completed(3);
  expect(emitted.has(identity(1))).toBe(false);
});

/** The engine's side: what each checkpoint captured, what is not confirmed, what completed last. */
class Engine {
  readonly emitted = new EmittedCommittables();
  readonly timesEmitted = new Map<CommittableIdentity, number>();
  readonly #captures = new Map<number, readonly CommittableIdentity[]>();
  #uncommitted: readonly CommittableIdentity[] = [];
  #lastId = 0;
  #completed = 0;
  #attempt = 1;

  prepare(): void {
    const id = ++this.#lastId;
    this.emitted.prepared(id);
    this.#uncommitted = [...this.#uncommitted, identity(id, this.#attempt)];
    this.#captures.set(id, this.#uncommitted);
  }

  /** One of the checkpoints under way, and with it all before. */
  complete(which: number): void {
    const pending = [...this.#captures.keys()].filter((id) => id > this.#completed);
    const id = pending[which % pending.length];
    if (id === undefined) return;
    this.#completed = id;
    this.#commit(id);
  }

  restart(): void {
    this.#attempt++;
    for (const id of [...this.#captures.keys()]) if (id > this.#completed) this.#captures.delete(id);
    this.#uncommitted = this.#captures.get(this.#completed) ?? [];
    this.#commit(Infinity);
  }

  #commit(upTo: number): void {
    const due = this.#uncommitted.filter(({ checkpointId }) => checkpointId <= upTo);
    for (const committable of due) {
      if (this.emitted.has(committable)) continue;
      this.emitted.add(committable);
      this.timesEmitted.set(committable, (this.timesEmitted.get(committable) ?? 0) + 1);
    }
    if (due.length > 0) this.emitted.completed(Math.max(...due.map(({ checkpointId }) => checkpointId)));
    this.#uncommitted = this.#uncommitted.filter((committable) => !due.includes(committable));
  }
}

property.prop([
  fc.array(fc.oneof(fc.constant('prepare' as const), fc.constant('restart' as const), fc.nat({ max: 2 })), {
    maxLength: 80,
  }),
])('nothing is emitted twice, whatever completes, is aborted or is restored in whatever order', (program) => {
  const engine = new Engine();
  for (const step of program) {
    if (step === 'prepare') engine.prepare();
    else if (step === 'restart') engine.restart();
    else engine.complete(step);
  }
  expect([...engine.timesEmitted.values()].filter((times) => times !== 1)).toEqual([]);
});
