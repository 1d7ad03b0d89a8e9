import type { BlobHandle, ChannelStateHandle } from '../contracts/snapshot.js';
import { WeirError } from '../errors.js';
import { readChannelState } from '../snapshot/channel-state.js';
import { defaultSerializer } from '../state/default-serializer.js';
import type { InputChannel } from './input-gate.js';
import { recordsOf, type Taker } from './record-owner.js';

export interface RestoreInFlightOptions extends Taker {
  readonly inputs: readonly InputChannel[];
  /** Of this subtask alone, or of all of them where the parallelism has changed. */
  readonly handles: readonly ChannelStateHandle[];
  readonly read: (blob: BlobHandle) => Promise<Uint8Array>;
}

/**
 * Puts what was in flight back into the channels, in front of everything that will come: each record goes to the one subtask that owns its key
 * group by now, or, on an edge without keys, to the one that takes the place of its old subtask. CHECKPOINT_INCOMPATIBLE if the job has no
 * such input any more.
 */
export async function restoreInFlight(options: RestoreInFlightOptions): Promise<void> {
  for (const handle of options.handles) {
    const { producer, consumer } = handle.edge;
    const channels = channelsFor(handle, options.inputs);
    const channel = channels[handle.fromSubtask % channels.length];
    if (channel === undefined) throw noInput(handle);
    const what = `records in flight from operator '${producer}' to '${consumer}'`;
    const bytes = await options.read(handle.blob);
    const minesOf = recordsOf(channel.partitioning, handle, options);
    for (const batch of readChannelState(handle, bytes, defaultSerializer, what))
      for (const mine of minesOf(batch)) channel.channel.send(mine);
  }
}

/** From each subtask of the same producer. One that has another name by now sends the same records if it feeds the same input. */
function channelsFor({ edge }: ChannelStateHandle, inputs: readonly InputChannel[]): readonly InputChannel[] {
  const sameInput = inputs.filter(({ name }) => name.edge.consumer === edge.consumer && name.edge.input === edge.input);
  const sameEdge = sameInput.filter(
    ({ name }) => name.edge.producer === edge.producer && name.edge.output === edge.output,
  );
  return sameEdge.length > 0 ? sameEdge : sameInput;
}

function noInput({ edge, count }: ChannelStateHandle): WeirError {
  return new WeirError(
    'CHECKPOINT_INCOMPATIBLE',
    `The checkpoint holds ${String(count)} records in flight from operator '${edge.producer}' to input ${String(edge.input)} of operator ` +
      `'${edge.consumer}', and the job has no such input. Restore it with the program that took it, or from a savepoint, which holds none.`,
    { recoverable: false },
  );
}
