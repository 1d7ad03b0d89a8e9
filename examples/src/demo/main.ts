import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import pc from 'picocolors';
import { compare, computeAnswer, type Answer, type Verdict } from './answer.js';
import { CHECKPOINT_EVERY } from './job.js';
import { killed, noStrategy, restartsAlone, withCheckpoints, type ChapterResult, type Scene } from './chapters.js';

const KILLS = 5;
const ALL_FLIGHTS = 3_000_000;

const { values } = parseArgs({ options: { flights: { type: 'string', default: String(ALL_FLIGHTS) } } });
const count = Number(values.flights);
if (!Number.isInteger(count) || count < 1000 || count > ALL_FLIGHTS) {
  console.error(`usage: npm run demo [-- --flights <1000 to ${String(ALL_FLIGHTS)}>]`);
  process.exit(2);
}

const root = mkdtempSync(join(tmpdir(), 'weir-demo-'));
const started = performance.now();
try {
  console.log(
    pc.bold(`\nweir: ${count.toLocaleString('en')} flights, counted by airport, whatever happens on the way`),
  );
  console.log('First the answer, by a plain loop over the file.');
  const answer = await computeAnswer(count);
  console.log(`  ${String(answer.size)} airports\n`);

  await chapter(1, 'No restart strategy, and one poisoned flight', noStrategy, answer);
  await chapter(2, 'It is only poisoned twice: fixed delay, 2 attempts, no checkpoints', restartsAlone, answer);
  const survived = await chapter(3, `The same with a checkpoint every ${CHECKPOINT_EVERY}`, withCheckpoints, answer);
  const reborn = await chapter(
    4,
    `The process is killed with kill -9, ${String(KILLS)} times`,
    (scene) => killed(scene, KILLS),
    answer,
  );

  console.log(pc.dim(`${((performance.now() - started) / 1000).toFixed(1)} s`));
  const lost = survived.lost + reborn.lost;
  const duplicated = survived.duplicated + reborn.duplicated;
  const isExact = [survived, reborn].every(({ rightTotals, lines }) => rightTotals === answer.size && lines === count);
  console.log(
    `exactly-once: ${String(survived.lines + reborn.lines)} records, ${String(lost)} lost, ${String(duplicated)} duplicated`,
  );
  process.exitCode = lost === 0 && duplicated === 0 && isExact ? 0 : 1;
} finally {
  rmSync(root, { recursive: true, force: true });
}

async function chapter(
  number: number,
  title: string,
  play: (scene: Scene) => Promise<ChapterResult>,
  answer: Answer,
): Promise<Verdict> {
  console.log(pc.bold(`${String(number)}. ${title}`));
  const scene: Scene = { count, dir: join(root, String(number)) };
  const begun = performance.now();
  const { ending, failures, checkpoints } = await play(scene);
  const seconds = ((performance.now() - begun) / 1000).toFixed(1);
  const verdict = await compare(join(scene.dir, 'out'), answer);
  rmSync(scene.dir, { recursive: true, force: true });
  const { lines, lost, duplicated } = verdict;
  const exact = lost === 0 && duplicated === 0;
  console.log(
    `  ${ending === 'finished' ? pc.green('finished') : pc.red('failed')} after ${seconds} s, ${String(failures)} failures, ` +
      `${String(checkpoints)} checkpoints: ${lines.toLocaleString('en')} lines published, ` +
      (exact
        ? pc.green('exact')
        : pc.red(`${lost.toLocaleString('en')} lost, ${duplicated.toLocaleString('en')} duplicated`)),
  );
  console.log();
  return verdict;
}
