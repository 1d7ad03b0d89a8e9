import { backpressure } from './measure/backpressure.js';
import { intervals } from './measure/intervals.js';
import { cycles } from './measure/cycles.js';
import { latency } from './measure/latency.js';
import { checkpointOverhead } from './measure/overhead.js';
import { parallel } from './measure/parallel.js';
import { restore, startUp } from './measure/restore.js';
import { rescale } from './measure/rescale.js';
import { steady } from './measure/steady.js';
import { throughput } from './measure/throughput.js';
import { unaligned } from './measure/unaligned.js';
import { warmUp } from './warm-up.js';
import { Report } from './report.js';

const MEASUREMENTS = {
  throughput,
  overhead: checkpointOverhead,
  parallel,
  steady,
  restore,
  rescale,
  'start-up': startUp,
  latency,
  backpressure,
  unaligned,
  intervals,
  cycles,
};
type Name = keyof typeof MEASUREMENTS;

const args = process.argv.slice(2);
const asJson = args.includes('--json');
const wanted = args.filter((arg) => arg !== '--json');
const unknown = wanted.find((name) => !Object.hasOwn(MEASUREMENTS, name));
if (unknown !== undefined) {
  console.error(
    `There is no measurement "${unknown}". Choose from: ${Object.keys(MEASUREMENTS).join(', ')}; none: all of them.`,
  );
  process.exit(2);
}

// With --json standard output is the JSON alone in its last line; progress goes to standard error either way.
const report = new Report((line) => {
  console.error(line);
});
await warmUp();
for (const name of (wanted.length > 0 ? wanted : Object.keys(MEASUREMENTS)) as Name[]) await MEASUREMENTS[name](report);
// A part of the figures does not replace the whole.
if (wanted.length === 0) console.error(`written to ${report.write()}`);
if (asJson) console.log(JSON.stringify(report.json));
