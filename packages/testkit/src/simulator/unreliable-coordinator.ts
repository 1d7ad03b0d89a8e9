import type {
  Acknowledgement,
  AttemptGateway,
  ChannelStateHandle,
  CheckpointCoordinator,
  CheckpointId,
  CoordinatorFactory,
  SubtaskReport,
} from '@weir/core/contracts';
import { delegating, subtaskName } from '@weir/core/contracts';
import type { Faults } from './faults.js';
import type { Watch } from './watch.js';

/** Reports under way. Those that were when their process died reach the next one. */
export type Network = Set<{ readonly report: SubtaskReport }>;

/** A coordinator at the other end of a bad line: reports and calls come late, and more than once. */
export function unreliableCoordinator(
  factory: CoordinatorFactory,
  faults: Faults,
  network: Network,
  watch: Watch,
): CoordinatorFactory {
  return {
    create(context) {
      const coordinator = factory.create(context);
      return delegating<CheckpointCoordinator>(coordinator, {
        attemptRunning(gateway) {
          coordinator.attemptRunning(unreliableGateway(gateway, faults, deliverAtTheWorst));
          for (const letter of network) deliverLater(letter, faults.random() * 200);
        },
        receive(report) {
          if (report.kind === 'ack') watch.captured(kindsInFlight(report));
          const { lateMs, againMs } = faults.message(nameOf(report));
          if (lateMs === undefined) coordinator.receive(report);
          else send(report, lateMs);
          if (againMs !== undefined) send(report, againMs);
        },
      });

      /** An id is given anew when nothing is left of the checkpoint that had it: what a dead process said of that one comes right then. */
      function deliverAtTheWorst(checkpointId: CheckpointId): void {
        for (const letter of network)
          if (letter.report.checkpointId === checkpointId) deliverLater(letter, faults.random());
      }
      function send(report: SubtaskReport, ms: number): void {
        const letter = { report };
        network.add(letter);
        deliverLater(letter, ms);
      }
      function deliverLater(letter: { readonly report: SubtaskReport }, ms: number): void {
        faults.later(ms, () => {
          // A later attempt of this process may have sent it on already.
          if (network.delete(letter)) coordinator.receive(letter.report);
        });
      }
    },
  };
}

/** The line to the subtasks keeps the order of what is sent over it. */
function unreliableGateway(
  gateway: AttemptGateway,
  faults: Faults,
  triggered: (checkpointId: CheckpointId) => void,
): AttemptGateway {
  const line: (() => void)[] = [];
  const next = (): void => {
    try {
      line[0]?.();
    } finally {
      line.shift();
      if (line.length > 0) faults.later(faults.random(), next);
    }
  };
  const send = (lateMs: number | undefined, action: () => void): void => {
    if (lateMs === undefined && line.length === 0) {
      action();
      return;
    }
    line.push(action);
    if (line.length === 1) faults.later(lateMs ?? 0, next);
  };
  return delegating<AttemptGateway>(gateway, {
    trigger(barrier, location) {
      send(faults.message(`trigger ${String(barrier.checkpointId)}`).lateMs, () => {
        gateway.trigger(barrier, location);
        triggered(barrier.checkpointId);
      });
    },
    completed(checkpointId) {
      const { lateMs, againMs } = faults.message(`completed ${String(checkpointId)}`);
      const told = new Promise<void>((resolve, reject) => {
        send(lateMs, () => {
          gateway.completed(checkpointId).then(resolve, reject);
        });
      });
      if (againMs !== undefined)
        send(againMs, () => {
          // Who hears it twice answers twice, and nobody listens.
          gateway.completed(checkpointId).catch(() => undefined);
        });
      return told;
    },
    released(checkpointId) {
      send(faults.message(`released ${String(checkpointId)}`).lateMs, () => {
        gateway.released(checkpointId);
      });
    },
    aborted(checkpointId, latestCompleted) {
      const { lateMs, againMs } = faults.message(`aborted ${String(checkpointId)}`);
      const tell = (): void => {
        gateway.aborted(checkpointId, latestCompleted);
      };
      send(lateMs, tell);
      if (againMs !== undefined) send(againMs, tell);
    },
  });
}

/** Of the channel state in a snapshot that is not empty. */
function kindsInFlight(report: Acknowledgement): ReadonlySet<ChannelStateHandle['kind']> {
  const channels = report.snapshot.operators.flatMap((operator) => operator.channels ?? []);
  return new Set(channels.filter(({ count }) => count > 0).map(({ kind }) => kind));
}

function nameOf({ kind, subtask, checkpointId }: SubtaskReport): string {
  return `${kind} ${String(checkpointId)} of ${subtaskName(subtask)}`;
}
