import type { Mutant } from './mutant.js';

/** Each breaks one promise of the engine. */
export const MUTANTS: readonly Mutant[] = [
  {
    name: 'acknowledged before it is written',
    file: 'core/snapshot/write-snapshot',
    find: 'await capture.write(marked ?? writer, slice);',
    replace: 'void capture.write(marked ?? writer, slice).catch(() => undefined);',
  },
  {
    name: 'timers forgotten on restore',
    file: 'core/operator/keyed-timers',
    find: "if (entry.kind === 'map')",
    replace: 'if (entry.key === undefined)',
  },
  {
    name: 'no alignment',
    file: 'core/host/input-gate',
    find: 'isBlocked(this.#alignment, index)',
    replace: 'false',
  },
  {
    name: 'one barrier too few',
    file: 'core/barrier/alignment',
    find: 'return collected.missing.size === 0',
    replace: 'return collected.missing.size <= 1',
  },
  {
    name: 'blocked channels leaked on cancel',
    file: 'core/barrier/modes',
    find: "timeout: ['persist', 'snapshot'], abort: ['abort', 'unblock-all'],",
    replace: "timeout: ['persist', 'snapshot'], abort: ['abort'],",
  },
  {
    name: 'the barrier overtakes a batch',
    file: 'core/host/router',
    find: 'this.flush(); for (const { channels, mayOvertake } of this.#edges) {',
    replace: 'for (const { channels, mayOvertake } of this.#edges) {',
  },
  {
    name: 'what a barrier has overtaken left out',
    file: 'core/host/input-gate',
    find: 'for (const batch of overtaken) this.#inFlight?.add(action.channel, batch);',
    replace: '',
  },
  {
    name: 'in-flight elements replayed twice',
    file: 'core/host/restore-in-flight',
    find: 'channel.channel.send(mine);',
    replace: '{ channel.channel.send(mine); channel.channel.send(mine); }',
  },
  {
    name: 'source position one too far',
    file: 'core/operator/source-operator',
    find: '{ split: open.split, position: open.position }',
    replace: '{ split: open.split, position: (open.position ?? 0) + 1 }',
  },
  {
    name: 'splits assigned during a checkpoint',
    file: 'core/host/sources',
    find: 'assignment.hold(checkpointId);',
    replace: '',
  },
  {
    name: 'one state left out',
    file: 'backend-memory/memory-capture',
    find: 'if (!isEmpty) await this.#writeGroup',
    replace: 'if (!isEmpty && index === 0) await this.#writeGroup',
  },
  {
    name: 'key group off by one in restore',
    file: 'core/snapshot/restored-state',
    find: 'readKeyedGroups(needed.handle, needed.bytes, range,',
    replace: 'readKeyedGroups(needed.handle, needed.bytes, { first: range.first + 1, last: range.last },',
  },
  {
    name: 'key group off by one in routing',
    file: 'core/element/key-group',
    find: 'return Math.floor((group * parallelism) / maxParallelism);',
    replace: 'return Math.floor((Math.max(0, group - 1) * parallelism) / maxParallelism);',
  },
  {
    name: 'committables left out',
    file: 'core/operator/sink-operator',
    find: "serializer: serializer('committables'), values: this.#uncommitted.all",
    replace: "serializer: serializer('committables'), values: []",
  },
  {
    name: 'commits of its own checkpoint only',
    file: 'core/operator/uncommitted',
    find: 'identity.checkpointId <= checkpointId',
    replace: 'identity.checkpointId === checkpointId',
  },
  {
    name: 'a failed commit taken for done',
    file: 'core/operator/commit-queue',
    find: "case 'retry': return true;",
    replace: "case 'retry': return false;",
  },
  {
    name: 'committed before _metadata',
    file: 'coordinator/completion',
    find: 'await location.publish(bytes);',
    replace: 'void attempt.gateway.completed(pending.id).catch(() => undefined); await location.publish(bytes);',
  },
  {
    name: "an old attempt's report accepted",
    file: 'coordinator/checkpoint-coordinator',
    find: 'if (report.attempt === this.#current?.number)',
    replace: 'if (this.#current !== undefined)',
  },
  {
    name: 'older checkpoints complete after newer ones',
    file: 'coordinator/completion',
    find: 'attempt.abortOlder(pending.id);',
    replace: '',
  },
  {
    name: 'the oldest checkpoint restored',
    file: 'coordinator/open-newest',
    find: 'const newest = stored.at(-1);',
    replace: 'const newest = stored[0];',
  },
  {
    name: 'an attempt beside the old one',
    file: 'core/host/job-run',
    find: 'await this.#end(attempt, outcome);',
    replace: 'void this.#end(attempt, outcome);',
  },
  {
    name: 'finished before its output is committed',
    file: 'coordinator/final-checkpoint',
    find: 'await committed;',
    replace: '',
  },
];
