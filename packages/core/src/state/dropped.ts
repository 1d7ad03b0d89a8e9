/**
 * Stands in a program for a state that it no longer has: under the name that checkpoints know it by. What they hold of it is left behind, where
 * otherwise the start would be refused.
 */
export interface DroppedState {
  readonly '~dropped': true;
}

/** Declares that the state of this name is given up (see docs/state.md). Take it out of the program once no checkpoint holds it any more. */
export function droppedState(): DroppedState {
  return { '~dropped': true };
}

export function isDropped(descriptor: object): descriptor is DroppedState {
  return '~dropped' in descriptor;
}

/** The names of the states that are given up. */
export function droppedNames(states: Readonly<Record<string, object>>): readonly string[] {
  return Object.entries(states).flatMap(([name, descriptor]) => (isDropped(descriptor) ? [name] : []));
}
