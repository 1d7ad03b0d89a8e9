import { backpressure } from './measure/backpressure.js';
import { bigState } from './measure/big-state.js';
import { incremental } from './measure/incremental.js';
import { rocksdb } from './measure/rocksdb.js';
import { intervals } from './measure/intervals.js';
import { cycles } from './measure/cycles.js';
import { latency } from './measure/latency.js';
import { checkpointOverhead } from './measure/overhead.js';
import { parallel } from './measure/parallel.js';
import { localRestore, restore, startUp } from './measure/restore.js';
import { rescale } from './measure/rescale.js';
import { rocksdbSteady, steady } from './measure/steady.js';
import { throughput } from './measure/throughput.js';
import { unaligned } from './measure/unaligned.js';
import { peers } from './peers/main.js';
import { warmUp } from './warm-up.js';
import { Report } from './report.js';

const MEASUREMENTS = {
  unaligned,
  intervals,
  cycles,
  rocksdb,
  'rocksdb-steady': rocksdbSteady,
  incremental,
  'local-restore': localRestore,
  restore,
  rescale,
  'start-up': startUp,
  latency,
  backpressure,
  parallel,
  steady,
  throughput,
  overhead: checkpointOverhead,
};
/** Only when they are asked for: they take long, or much room. */
const SEPARATE = { 'big-state': bigState };
const ALL = { ...MEASUREMENTS, ...SEPARATE };
type Name = keyof typeof ALL;

const args = process.argv.slice(2);
if (args[0] === '--peers') {
  await peers(args.slice(1));
  process.exit();
}
const asJson = args.includes('--json');
const wanted = args.filter((arg) => arg !== '--json');
const unknown = wanted.find((name) => !Object.hasOwn(ALL, name));
if (unknown !== undefined) {
  console.error(
    `There is no measurement "${unknown}". Choose from: ${Object.keys(ALL).join(', ')}; none: all but ${Object.keys(SEPARATE).join(', ')}.`,
  );
  process.exit(2);
}

// With --json standard output is the JSON alone in its last line; progress goes to standard error either way.
const report = new Report((line) => {
  console.error(line);
});
await warmUp();
// A part of the figures does not replace the whole. What there is of that is kept, should the rest not come.
let path: string | undefined;
for (const name of (wanted.length > 0 ? wanted : Object.keys(MEASUREMENTS)) as Name[]) {
  await ALL[name](report);
  if (wanted.length === 0) path = report.write();
}
if (path !== undefined) console.error(`written to ${path}`);
if (asJson) console.log(JSON.stringify(report.json));
