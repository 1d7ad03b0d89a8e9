import type { OperatorStateHandle } from '@weir/core/contracts';
import { byName } from './by-name.js';

/** Union state: everybody gets everything, in the order of the old subtasks. */
export function uniteLists(
  old: readonly (readonly OperatorStateHandle[])[],
  parallelism: number,
): readonly (readonly OperatorStateHandle[])[] {
  return Array.from({ length: parallelism }, () => old.flat());
}

/**
 * Broadcast state: all copies are the same, and each new subtask gets one. Its own if `keepsOwn` and it has one, else that of reporter
 * `i mod reporters`, so that the reading is spread over them (Flink: RoundRobinOperatorStateRepartitioner.repartitionBroadcastState).
 */
export function spreadCopies(
  old: readonly (readonly OperatorStateHandle[])[],
  parallelism: number,
  keepsOwn: boolean,
): readonly (readonly OperatorStateHandle[])[] {
  const states = byName(old);
  return Array.from({ length: parallelism }, (_, index) =>
    [...states].map(([name, copies]) => {
      const own = keepsOwn ? old[index]?.find((handle) => handle.name === name) : undefined;
      return own ?? (copies[index % copies.length] as OperatorStateHandle);
    }),
  );
}
