import type { KeyGroupRange, NativeStateHandle } from '../contracts/snapshot.js';
import type { KeyedGroup, KeyedSection, StateBackend, StateScope, StoredBytes } from '../contracts/state-backend.js';
import type { KeyGroup } from '../element/ids.js';
import { WeirError } from '../errors.js';
import { fullCapture } from './full-capture.js';
import { keptAs } from './kept-as.js';
import type { GroupReader } from './stored-groups.js';

/**
 * Groups of a handle in a backend's own format: the backend takes its files back as for a job, and a full capture gives what they hold in the format
 * that every reader understands. Going back starts it anew.
 */
export class NativeGroups implements GroupReader {
  readonly range: KeyGroupRange;
  readonly #handle: NativeStateHandle;
  readonly #open: () => AsyncGenerator<KeyedSection, void, undefined>;
  #sections: AsyncGenerator<KeyedSection, void, undefined> | undefined;
  /** Read, and of a group that was not asked for yet. */
  #ahead: KeyedSection | undefined;
  #next: KeyGroup = 0;

  constructor(handle: NativeStateHandle, open: () => AsyncGenerator<KeyedSection, void, undefined>) {
    this.range = handle.range;
    this.#handle = handle;
    this.#open = open;
  }

  async group(keyGroup: KeyGroup): Promise<KeyedGroup | undefined> {
    if (keyGroup < this.range.first || keyGroup > this.range.last) return undefined;
    if (keyGroup < this.#next) await this.rest();
    this.#sections ??= this.#open();
    const sections: KeyedSection[] = [];
    this.#ahead ??= await this.#pull();
    while (this.#ahead !== undefined && this.#ahead.keyGroup <= keyGroup) {
      if (this.#ahead.keyGroup === keyGroup) sections.push(this.#ahead);
      this.#ahead = await this.#pull();
    }
    this.#next = keyGroup + 1;
    return sections.length === 0 ? undefined : { keyGroup, watermark: this.#handle.watermark, sections };
  }

  async rest(): Promise<void> {
    const sections = this.#sections;
    this.#sections = undefined;
    this.#ahead = undefined;
    this.#next = 0;
    await sections?.return();
  }

  async #pull(): Promise<KeyedSection | undefined> {
    const next = await this.#sections?.next();
    return next?.done === false ? next.value : undefined;
  }
}

/** The sections of what a backend wrote for itself, ascending by key group. */
export async function* nativeSections(
  backend: StateBackend,
  handle: NativeStateHandle,
  scope: StateScope,
  stored: StoredBytes,
): AsyncGenerator<KeyedSection, void, undefined> {
  const store = await backend.open(scope);
  try {
    if (store.restoreNative === undefined) {
      throw new WeirError(
        'CHECKPOINT_INCOMPATIBLE',
        `State backend '${backend.type}' says that the format of operator ${scope.operator} is its own, but cannot read it. Update its package.`,
        { recoverable: false },
      );
    }
    const states = handle.states.map((state) => ({ ...state, kind: keptAs(state.kind) }));
    await store.restoreNative({ ...handle, states }, stored);
    yield* fullCapture(store);
  } finally {
    await store.close();
  }
}
