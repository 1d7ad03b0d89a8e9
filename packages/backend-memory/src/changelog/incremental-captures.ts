import type { CheckpointId, KeyGroupRange, KeyedCapture, RestoredBase } from '@weir/core/contracts';
import { SINCE_EVER } from '../capture/preserved.js';
import type { Captures } from '../capture/captures.js';
import { WholeState } from '../capture/extent.js';
import type { Extent } from '../capture/extent.js';
import { MemoryCapture } from '../memory-capture.js';
import type { StoredState } from '../state/stored-state.js';
import { ChangedState } from './changed-state.js';
import { CheckpointChain } from './checkpoint-chain.js';
import type { OpenLink } from './checkpoint-chain.js';
import type { Link } from './link.js';
import { nextLink } from './next-link.js';
import { restoredLinks } from './restored-links.js';

/** Slots and keys that are remembered in any case, however small the state is. */
const REMEMBERED_ANYWAY = 1024;

export interface IncrementalCapturesOptions {
  readonly captures: Captures;
  readonly states: readonly StoredState[];
  readonly range: KeyGroupRange;
}

/** The captures of one store: full ones, and those that build on what earlier checkpoints have stored. */
export class IncrementalCaptures {
  readonly #options: IncrementalCapturesOptions;
  readonly #chain = new CheckpointChain();

  constructor(options: IncrementalCapturesOptions) {
    this.#options = options;
  }

  full(checkpointId: CheckpointId): KeyedCapture {
    const { captures, states } = this.#options;
    this.#limitMemory();
    if (captures.log.isOn && this.#chain.rememberedSince === undefined) captures.stopLog();
    const preserved = captures.begin(checkpointId, SINCE_EVER);
    return new MemoryCapture({ ...this.#options, preserved, extent: new WholeState(states) });
  }

  incremental(checkpointId: CheckpointId): KeyedCapture {
    const { captures, states } = this.#options;
    const { log } = captures;
    if (!log.isOn) captures.startLog();
    this.#limitMemory();
    const { links } = this.#chain;
    const next = nextLink({
      links,
      rows: states.reduce((sum, state) => sum + state.rows, 0),
      changedRows: log.rowsSince(links.at(-1)?.version ?? 0),
    });
    switch (next.kind) {
      case 'base':
        return this.#linked(checkpointId, [], 0);
      case 'changes':
        return this.#linked(checkpointId, links.slice(0, next.kept), next.level);
    }
  }

  completed(checkpointId: CheckpointId): void {
    this.#chain.completed(checkpointId);
    this.#forgetOld();
  }
  aborted(checkpointId: CheckpointId): void {
    this.#chain.aborted(checkpointId);
    this.#forgetOld();
  }
  restored(base: RestoredBase): void {
    const { captures, states, range } = this.#options;
    const handles = restoredLinks(
      base,
      states.map(({ meta }) => meta),
      range,
    );
    if (handles.length > 0) this.#chain.restored(handles, captures.startLog());
  }

  #linked(checkpointId: CheckpointId, kept: readonly Link[], level: number): KeyedCapture {
    const { captures, states } = this.#options;
    const last = kept.at(-1);
    const preserved = captures.begin(checkpointId, last === undefined ? SINCE_EVER : 2 * last.version);
    const open: OpenLink = { checkpointId, version: preserved.version, kept, level };
    this.#chain.begin(open);
    const extent: Extent =
      last === undefined
        ? new WholeState(states, 'base')
        : new ChangedState(
            states,
            captures.log.endedSince(last.version),
            kept.map(({ handle }) => handle),
          );
    this.#forgetOld();
    return new MemoryCapture({
      ...this.#options,
      preserved,
      extent,
      onWritten: (handles) => {
        this.#chain.written(open, handles);
      },
      onRelease: () => {
        this.#chain.dropUnwritten(open);
      },
    });
  }

  /** What is remembered takes no more memory than the state does: to write all of it is cheaper then. */
  #limitMemory(): void {
    const { captures, states } = this.#options;
    if (!captures.log.isOn) return;
    const rows = states.reduce((sum, state) => sum + state.rows, 0);
    if (captures.log.size > rows + REMEMBERED_ANYWAY) this.#chain.forget();
  }
  #forgetOld(): void {
    const { log } = this.#options.captures;
    log.forgetBefore(this.#chain.rememberedSince ?? log.current.version);
  }
}
