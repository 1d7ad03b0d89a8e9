import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { meets, type Figure } from './figure.js';
import { machine } from './machine.js';

/** Collects figures, shows each as soon as it is measured, and writes them down. */
export class Report {
  readonly #figures: Record<string, Figure> = {};
  readonly #say: (line: string) => void;

  constructor(say: (line: string) => void) {
    this.#say = say;
  }

  add(name: string, figure: Figure): void {
    this.#figures[name] = figure;
    const { value, unit, bar, spread } = figure;
    const range = spread === undefined ? '' : `  (${String(spread[0])} to ${String(spread[1])})`;
    const wanted =
      bar === undefined
        ? ''
        : 'atLeast' in bar
          ? `  at least ${String(bar.atLeast)}`
          : `  at most ${String(bar.atMost)}`;
    const mark = bar === undefined ? ' ' : meets(figure) ? '✓' : '✗';
    this.#say(`${mark} ${name.padEnd(42)} ${String(value).padStart(10)} ${unit}${range}${wanted}`);
  }

  get json(): { readonly date: string; readonly machine: object; readonly figures: Readonly<Record<string, Figure>> } {
    return { date: new Date().toISOString(), machine: machine(), figures: this.#figures };
  }

  /** Into benchmarks/results/<date>.json; says where. */
  write(): string {
    const dir = fileURLToPath(new URL('../results/', import.meta.url));
    mkdirSync(dir, { recursive: true });
    const { date } = this.json;
    const path = `${dir}${date.slice(0, 10)}.json`;
    writeFileSync(path, `${JSON.stringify(this.json, undefined, 2)}\n`);
    return path;
  }
}
