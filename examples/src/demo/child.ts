// The process that chapter 4 kills.
import { fsBackend } from '@weir/backend-fs';
import { checkpointCoordinator } from '@weir/coordinator';
import { createEnvironment } from '@weir/core';
import { SILENT } from '@weir/core/contracts';
import { CHECKPOINT_EVERY, describeJob } from './job.js';

export type Message =
  | { readonly kind: 'read'; readonly rows: number }
  | { readonly kind: 'checkpoint' }
  | { readonly kind: 'resumed'; readonly checkpoint: number };
export interface ChildOptions {
  readonly count: number;
  readonly out: string;
  readonly state: string;
}

const { count, out, state } = JSON.parse(process.argv[2] ?? '{}') as ChildOptions;
const tell = (message: Message): void => {
  process.send?.(message);
};
let lastTold = 0;
const env = createEnvironment({
  logger: SILENT,
  plugins: [checkpointCoordinator(), fsBackend({ checkpointsDir: state })],
});
env.enableCheckpointing(CHECKPOINT_EVERY);
describeJob(env, {
  count,
  out,
  look: () => undefined,
  onRead: (rows) => {
    if (rows - lastTold < 20_000 && rows < count) return;
    lastTold = rows;
    tell({ kind: 'read', rows });
  },
});
const job = await env.start('flights');
job.events$.subscribe((event) => {
  if (event.kind === 'checkpoint-completed') tell({ kind: 'checkpoint' });
  if (event.kind === 'restored') tell({ kind: 'resumed', checkpoint: event.checkpointId });
});
await job.done;
process.disconnect();
