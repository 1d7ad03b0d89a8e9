import cliProgress from 'cli-progress';
import pc from 'picocolors';

const MARK = '●';
const MOST_MARKS = 24;

/** What the audience sees: a bar that moves with the flights, and a mark for every checkpoint. */
export class StageLights {
  readonly #bar: cliProgress.SingleBar | undefined;
  readonly #count: number;
  #rows = 0;
  #checkpoints = 0;
  #note = '';

  constructor(count: number) {
    this.#count = count;
    if (!process.stdout.isTTY) return;
    this.#bar = new cliProgress.SingleBar({
      format: `  ${pc.cyan('{bar}')} {percentage} %  {flights} flights  ${pc.green('{marks}')} {note}`,
      barCompleteChar: '█',
      barIncompleteChar: '░',
      barsize: 28,
      hideCursor: true,
      fps: 20,
    });
    this.#bar.start(count, 0, this.#payload);
  }

  read(rows: number): void {
    this.#rows = Math.max(rows, 0);
    this.#bar?.update(this.#rows, this.#payload);
  }
  checkpoint(): void {
    this.#checkpoints++;
    this.#bar?.update(this.#rows, this.#payload);
  }
  /** Something happened: a crash, a restart. */
  say(note: string): void {
    this.#note = note;
    if (this.#bar === undefined) console.log(`  ${note}`);
    else this.#bar.update(this.#rows, this.#payload);
  }
  off(): void {
    this.#bar?.update(this.#rows, this.#payload);
    this.#bar?.stop();
    if (this.#bar === undefined) {
      console.log(
        `  ${String(this.#rows)} of ${String(this.#count)} flights read, ${String(this.#checkpoints)} checkpoints`,
      );
    }
  }

  get checkpoints(): number {
    return this.#checkpoints;
  }

  get #payload(): object {
    const marks = MARK.repeat(Math.min(this.#checkpoints, MOST_MARKS));
    const more = this.#checkpoints > MOST_MARKS ? ` ${String(this.#checkpoints)}` : '';
    return { flights: this.#rows.toLocaleString('en'), marks: marks + more, note: pc.yellow(this.#note) };
  }
}
