import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Disk } from './disk.js';
import { FakeBackend, missing, useless } from './fake-backend.js';
import { FakeGateway } from './fake-gateway.js';
import { Process } from './harness.js';
import { liveMortally } from './mortal-life.js';
import { OUT } from './plan.js';

/** From its start to its end, with checkpoints that have files in common, each without the oldest file of the one before. Where it died. */
async function live(disk: Disk, dieAt: number): Promise<string | undefined> {
  const process = new Process({ disk, settings: { incremental: true, numRetained: 2 } });
  const life = async (): Promise<void> => {
    if ((await process.start('auto')).kind === 'already-finished') return;
    const { attempt, restore } = await process.coordinator.beginAttempt();
    const gateway = new FakeGateway(process.coordinator, attempt);
    const backend = new FakeBackend(gateway, restore);
    gateway.onTrigger = (id) =>
      queueMicrotask(() => {
        backend.capture(id, undefined, (blob) => blob !== (backend.base.length > 2 ? backend.base[0] : undefined));
        backend.ack(id);
      });
    process.coordinator.attemptRunning(gateway);
    for (let i = 0; i < 5; i++) await process.coordinator.triggerCheckpoint();
    await process.coordinator.finalCheckpoint();
    await process.coordinator.attemptEnded(attempt);
    await process.coordinator.end('finished');
  };
  return liveMortally({ process, dieAt, onStep: () => undefined, onVisible: () => undefined, life });
}

describe('a process that dies at any step', () => {
  test('leaves every complete checkpoint whole, and nothing that the next one does not remove', async () => {
    const deaths: string[] = [];
    const broken: string[] = [];
    for (let dieAt = 0; ; dieAt++) {
      const disk = new Disk();
      disk.onStep = () => broken.push(...missing(disk));
      const death = await live(disk, dieAt);
      if (death === undefined) break;
      deaths.push(death);
      expect(await live(disk, Infinity)).toBeUndefined();
      expect([...disk.shared], death).toEqual([]);
    }
    expect(broken).toEqual([]);
    for (const step of ['list shared', 'publish 3', 'delete 1', 'delete shared', 'delete 6', 'release'])
      expect(deaths.filter((death) => death.includes(` ${step}`)).length).toBeGreaterThanOrEqual(2);
  });

  test('again and again', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(90), { minLength: 2, maxLength: 6 }), async (deaths) => {
        const disk = new Disk();
        const broken: string[] = [];
        disk.onStep = () => broken.push(...missing(disk));
        for (const dieAt of deaths) await live(disk, dieAt);
        await live(disk, Infinity);
        expect(broken).toEqual([]);
        expect([...disk.shared]).toEqual([]);
      }),
      { numRuns: 40 },
    );
  });
});

type Step =
  | { readonly kind: 'trigger' | 'hold' | 'tell' | 'savepoint' | 'restart' }
  | { readonly kind: 'ack' | 'decline'; readonly which: number }
  /** Without so many of the oldest files of the base; the new file may have a name that was used before. */
  | { readonly kind: 'capture'; readonly drops: number; readonly key: number }
  /** The process dies after so many steps of its storage, and the next one may as well. */
  | { readonly kind: 'die'; readonly after: number; readonly next: number };

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    { weight: 10, arbitrary: fc.constant({ kind: 'trigger' } as const) },
    {
      weight: 8,
      arbitrary: fc.record({ kind: fc.constant('capture' as const), drops: fc.nat(2), key: fc.nat(5) }),
    },
    { weight: 8, arbitrary: fc.record({ kind: fc.constant('ack' as const), which: fc.nat(2) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('decline' as const), which: fc.nat(2) }) },
    {
      weight: 3,
      arbitrary: fc.constantFrom({ kind: 'hold' } as const, { kind: 'tell' } as const, { kind: 'tell' } as const),
    },
    { weight: 1, arbitrary: fc.constantFrom({ kind: 'savepoint' } as const, { kind: 'restart' } as const) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('die' as const), after: fc.nat(8), next: fc.nat(20) }) },
  ),
  { minLength: 20, maxLength: 80, size: 'max' },
);

/** A job that goes on over any number of attempts and processes, on one disk. */
class Story {
  readonly disk = new Disk();
  readonly broken: string[] = [];
  /** Checkpoints that have completed. */
  completed = 0;
  readonly #settings: { readonly numRetained: number; readonly preferCheckpointForRecovery: boolean };
  #process!: Process;
  #backend!: FakeBackend;
  #triggered: number[] = [];
  #captured: number[] = [];
  #isDead = true;
  #isHeld = false;
  #told: (() => void)[] = [];

  constructor(settings: { readonly numRetained: number; readonly preferCheckpointForRecovery: boolean }) {
    this.#settings = settings;
    this.disk.onStep = () => this.broken.push(...missing(this.disk));
  }

  async take(step: Step): Promise<void> {
    if (this.#isDead) await this.#start(undefined);
    const { clock, coordinator } = this.#process;
    switch (step.kind) {
      case 'trigger':
        coordinator.triggerCheckpoint().catch(() => undefined);
        break;
      case 'savepoint':
        coordinator.triggerSavepoint('savepoints').catch(() => undefined);
        await clock.settle();
        // Its barrier may have to wait; a subtask acknowledges no checkpoint that it has not captured.
        for (const barrier of this.#backend.gateway.barriers)
          if (barrier.snapshot === 'savepoint') this.#backend.gateway.ackAll(barrier.checkpointId);
        break;
      case 'capture': {
        const id = this.#triggered.shift();
        if (id === undefined) break;
        const { base } = this.#backend;
        const key = `k${String(step.key)}`;
        // What was given up meanwhile is captured by nobody.
        if (this.#backend.gateway.log.some((entry) => entry.startsWith(`aborted ${String(id)} `))) break;
        this.#backend.capture(id, [key], (blob) => base.indexOf(blob) >= step.drops && blob.key !== key);
        this.#captured.push(id);
        break;
      }
      case 'ack':
      case 'decline': {
        const [id] = this.#captured.splice(step.which % Math.max(1, this.#captured.length), 1);
        if (id === undefined) break;
        if (step.kind === 'ack') this.#backend.ack(id);
        else this.#backend.gateway.decline(id, OUT);
        break;
      }
      case 'hold':
        this.#isHeld = true;
        break;
      case 'tell':
        this.tell();
        break;
      case 'restart': {
        // It may die of the first step.
        const dying = this.#dying();
        await Promise.race([this.#restart(), dying]);
        break;
      }
      case 'die':
        this.#dieAfter(step.after);
        break;
    }
    await clock.settle();
    if (step.kind === 'die' && this.#isDead) await this.#start(step.next);
  }

  /** Lets subtasks know what is complete, in order. */
  tell(): void {
    this.#isHeld = false;
    for (const go of this.#told.splice(0)) go();
  }

  /** Takes two checkpoints in peace, and tells what is useless then. */
  async settle(): Promise<readonly string[]> {
    this.#process.storage.die();
    await this.#start(undefined);
    for (const key of [6, 7, 8]) {
      await this.take({ kind: 'trigger' });
      await this.take({ kind: 'capture', drops: 0, key });
      await this.take({ kind: 'ack', which: 0 });
    }
    return useless(this.disk);
  }

  async end(): Promise<void> {
    await this.#process.coordinator.attemptEnded(this.#backend.gateway.attempt);
    await this.#process.coordinator.end('finished');
  }

  async #start(dieAfter: number | undefined): Promise<void> {
    this.#process = new Process({
      disk: this.disk,
      settings: {
        incremental: true,
        maxConcurrent: 3,
        tolerableFailures: Infinity,
        allowDuplicates: true,
        ...this.#settings,
      },
    });
    this.#isDead = false;
    if (dieAfter !== undefined) this.#dieAfter(dieAfter);
    const dying = this.#dying();
    const started = this.#process.start('auto').then(() => this.#begin());
    await Promise.race([started, dying]);
    if (this.#hasDied()) await this.#start(undefined);
  }

  async #restart(): Promise<void> {
    await this.#process.coordinator.attemptEnded(this.#backend.gateway.attempt);
    await this.#begin();
  }

  async #begin(): Promise<void> {
    const { coordinator, clock } = this.#process;
    this.#process.onEvent = ({ kind }) => {
      if (kind === 'checkpoint-completed') this.completed++;
    };
    const { attempt, restore } = await coordinator.beginAttempt();
    const gateway = new FakeGateway(coordinator, attempt);
    this.#backend = new FakeBackend(gateway, restore);
    const backend = this.#backend;
    [this.#triggered, this.#captured, this.#told] = [[], [], []];
    this.#isHeld = false;
    gateway.onTrigger = (id) => {
      if (gateway.barriers.at(-1)?.snapshot === 'checkpoint') this.#triggered.push(id);
    };
    gateway.commit = async (id) => {
      if (this.#isHeld) await new Promise<void>((resolve) => this.#told.push(resolve));
      backend.completed(id);
    };
    coordinator.attemptRunning(gateway);
    await clock.settle();
  }

  #hasDied(): boolean {
    return this.#isDead;
  }
  #death: (() => void) | undefined;
  #dieAfter(steps: number): void {
    let left = steps;
    const { storage } = this.#process;
    storage.intercept = () => {
      if (left-- > 0) return;
      storage.die();
      this.#isDead = true;
      this.#death?.();
    };
  }
  #dying(): Promise<void> {
    return new Promise((resolve) => {
      this.#death = resolve;
    });
  }

  /** What was said of checkpoints that did not complete. */
  get complaints(): readonly string[] {
    return this.#process.told('checkpoint-aborted').map(({ message }) => message);
  }
}

/**
 * A savepoint has to wait, because as many checkpoints as may be are under way; one of them has not been captured. (Seed 2059763309, whose subtask
 * acknowledged that one all the same: an engine cannot keep the base of a capture that never was.)
 */
const SAVEPOINT_BEHIND_HELD_NOTICES: readonly Step[] = [
  ...['trigger', 'capture', 'trigger', 'capture', 'ack', 'trigger', 'hold', 'trigger', 'ack', 'capture', 'ack'],
  ...['capture', 'trigger', 'capture', 'trigger', 'ack', 'ack', 'savepoint', 'tell', 'capture', 'savepoint'],
  ...['capture', 'capture', 'capture', 'trigger', 'decline', 'capture 1', 'trigger', 'capture', 'capture', 'ack'],
  ...['trigger', 'trigger', 'ack', 'ack', 'trigger', 'ack', 'trigger', 'capture'],
].map((name): Step => {
  const [kind, key = '0'] = name.split(' ');
  switch (kind) {
    case 'capture':
      return { kind, drops: 0, key: Number(key) };
    case 'ack':
    case 'decline':
      return { kind, which: 0 };
    default:
      return { kind: kind as 'trigger' | 'hold' | 'tell' | 'savepoint' };
  }
});

describe('whatever happens to checkpoints, attempts and processes', () => {
  test('no file is removed that a checkpoint needs, and none stays for ever', async () => {
    let completed = 0;
    await fc.assert(
      fc.asyncProperty(steps, fc.integer({ min: 1, max: 3 }), fc.boolean(), async (taken, numRetained, prefer) => {
        const story = new Story({ numRetained, preferCheckpointForRecovery: prefer });
        for (const step of taken) {
          await story.take(step);
          expect(story.broken).toEqual([]);
          // What a pending checkpoint is made of is there as well when it completes.
          expect(story.complaints.filter((message) => message.includes('shared file'))).toEqual([]);
        }
        completed += story.completed;
        expect(await story.settle()).toEqual([]);
        expect(story.broken).toEqual([]);
        await story.end();
        expect([...story.disk.shared]).toEqual([]);
      }),
      { numRuns: 100, examples: [[SAVEPOINT_BEHIND_HELD_NOTICES, 1, false]] },
    );
    expect(completed).toBeGreaterThan(300);
  });
});
