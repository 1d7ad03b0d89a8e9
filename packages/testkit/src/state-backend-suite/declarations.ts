import assert from 'node:assert/strict';
import {
  defaultSerializer,
  type Key,
  type ListState,
  type MapState,
  type StateDeclaration,
  type ValueState,
  type ValueStateHandle,
} from '@weir/core/contracts';

/** Few, so that a key group has several keys. */
export const MAX_PARALLELISM: number = 16;

/** The states of the operator that the suite plays. */
export const DECLARATIONS: readonly StateDeclaration[] = [
  { name: 'count', kind: 'value', serializer: defaultSerializer, initial: () => 0 },
  { name: 'last', kind: 'value', serializer: defaultSerializer },
  { name: 'items', kind: 'list', serializer: defaultSerializer },
  { name: 'index', kind: 'map', serializer: defaultSerializer },
];
export type StateName = 'count' | 'last' | 'items' | 'index';

/** Their handles. */
export interface States {
  readonly count: ValueState<unknown, unknown>;
  readonly last: ValueStateHandle;
  readonly items: ListState<unknown>;
  readonly index: MapState<Key, unknown>;
}

export function declarationOf(name: string): StateDeclaration {
  const declaration = DECLARATIONS.find((state) => state.name === name);
  assert(declaration, `state ${name} is declared`);
  return declaration;
}
