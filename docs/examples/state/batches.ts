import { operatorListState, subtaskProcess, type Emit, type StreamOperator } from '@weir/core/operators';

/** Records in groups of `size`, whatever their keys. What waits for its group is state of the subtask, and so is neither lost nor repeated. */
export function inGroupsOf<T>(size: number, uid: string): StreamOperator<T, readonly T[]> {
  return subtaskProcess({
    uid,
    state: { waiting: operatorListState<T>() },
    onRecord(record: T, { state: { waiting } }, emit: Emit<readonly T[]>) {
      waiting.add(record);
      if (waiting.values().length < size) return;
      emit([...waiting.values()]);
      waiting.clear();
    },
    onEnd({ state: { waiting } }, emit) {
      if (waiting.values().length > 0) emit([...waiting.values()]);
    },
  });
}
