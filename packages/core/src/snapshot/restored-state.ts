import type { RestorePlan } from '../contracts/coordinator.js';
import type { Serializer } from '../contracts/serializer.js';
import type {
  Committable,
  KeyGroupRange,
  NativeStateHandle,
  OperatorRestore,
  StateMeta,
} from '../contracts/snapshot.js';
import type { KeyedGroup, KeyedSection, RestoredBase, StateDeclaration } from '../contracts/state-backend.js';
import type { CheckpointId, OperatorUid } from '../element/ids.js';
import type { RestoredState } from '../operator/operator.js';
import type { Declared } from '../state/state-match.js';
import { readCommittables } from './committables.js';
import { readKeyedGroups } from './keyed-section-reader.js';
import { readOperatorState } from './operator-state.js';
import { isUnchanged, matchHandles, type KeyedMatches } from './match-handles.js';
import { openBlob } from './open-blob.js';
import { readNeeded } from './read-needed.js';

/** One operator's state in a checkpoint, read when it is asked for. */
export function restoredState(
  checkpointId: CheckpointId,
  uid: OperatorUid,
  parts: readonly OperatorRestore[],
  stored: Pick<RestorePlan, 'read' | 'readPart' | 'isOwned'>,
  /** Of keyed state. */
  keyed: Pick<RestorePlan, 'read' | 'readPart'> = stored,
): RestoredState {
  const where = `operator '${uid}' in chk-${String(checkpointId)}`;
  const handles = parts.flatMap(({ keyed }) => keyed);
  const matched = (declared: Declared<StateDeclaration>): KeyedMatches => {
    const matches = matchHandles(handles, declared, where);
    for (const match of matches.values()) if (match.kind === 'incompatible') throw match.error;
    return matches;
  };
  const keyTypes = parts.flatMap((part) => part.keyTypes ?? []);
  return {
    checkpointId,
    keyTypes: parts.some((part) => part.keyTypes !== undefined) ? [...new Set(keyTypes)] : undefined,
    baseFor(declared): RestoredBase {
      const isAsDeclared = [...matched(declared).values()].every(isUnchanged);
      return { checkpointId, handles, isOwned: stored.isOwned && isAsDeclared };
    },
    open: (blob) => openBlob(blob, keyed, `state of ${where}`),
    nativeStates(declared, range: KeyGroupRange): readonly NativeStateHandle[] {
      const matches = matched(declared);
      return handles.flatMap((handle) => {
        if (handle.format !== 'native' || handle.range.first > range.last || handle.range.last < range.first) return [];
        return [{ ...handle, states: handle.states.map((state) => named(state, matches)) }];
      });
    },
    async *keyedGroups(declared, range: KeyGroupRange): AsyncGenerator<KeyedGroup> {
      const matches = matched(declared);
      for (const handle of handles) {
        if (handle.format === 'native') continue;
        const needed = await readNeeded(handle, range, keyed);
        for (const group of readKeyedGroups(needed.handle, needed.bytes, range, `keyed state of ${where}`)) {
          const sections = group.sections.flatMap((section) => asDeclared(section, matches) ?? []);
          yield { ...group, sections };
        }
      }
    },
    operatorStates: parts.flatMap(({ operator }) => operator),
    async operatorState(name: string, serializer: Serializer): Promise<readonly unknown[]> {
      const handles = parts.flatMap(({ operator }) => operator).filter((handle) => handle.name === name);
      const values = handles.map(async (handle) =>
        readOperatorState(handle, await stored.read(handle.blob), serializer, `operator state '${name}' of ${where}`),
      );
      return (await Promise.all(values)).flat();
    },
    async committables(serializer: Serializer, destination: string | undefined): Promise<readonly Committable[]> {
      const handles = parts
        .flatMap(({ committables }) => committables ?? [])
        .filter((handle) => destination === undefined || handle.destination.id === destination);
      const values = handles.map(async (handle) =>
        readCommittables(handle, await stored.read(handle.blob), serializer, `committables of ${where}`),
      );
      return (await Promise.all(values)).flat();
    },
  };
}

/** A section as it is declared now; undefined for one of a state that was dropped. */
function asDeclared(section: KeyedSection, matches: KeyedMatches): KeyedSection | undefined {
  if (matches.get(section.state.name)?.kind !== 'kept') return undefined;
  const state = named(section.state, matches);
  return state === section.state ? section : { ...section, state };
}

/** Under the name that the state has now. */
function named(state: StateMeta, matches: KeyedMatches): StateMeta {
  const match = matches.get(state.name);
  return match?.kind !== 'kept' || match.state.name === state.name ? state : { ...state, name: match.state.name };
}
