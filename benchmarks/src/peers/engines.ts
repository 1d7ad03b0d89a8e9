import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** How a program is started: the order follows what is here. */
export interface Engine {
  readonly command: string;
  readonly args: readonly string[];
  /** Node's are; those of others once they are built. */
  readonly isThere: boolean;
}

/** The programs in other languages. */
export const FOLDER = fileURLToPath(new URL('../../peers/', import.meta.url));
const PROGRAMS = fileURLToPath(new URL('./program/', import.meta.url));

const JAVA_OPTIONS = [
  // A small young generation stays nearer to the caches: the best of those that were tried.
  ...['-Xmx4g', '-Xms4g', '-XX:+UseParallelGC', '-Xmn256m'],
  ...['lang', 'lang.reflect', 'util', 'util.concurrent', 'net', 'io', 'nio', 'text'].map(
    (name) => `--add-opens=java.base/java.${name}=ALL-UNNAMED`,
  ),
];

export function engineOf(name: string): Engine {
  const family = name.split('-')[0]!;
  switch (family) {
    case 'loop':
    case 'rxjs':
      return node('by-hand.js');
    case 'weir':
      return node('weir.js');
    case 'flink1':
    case 'flink2':
      return java(family, 'bench.FlinkBench');
    case 'kstreams':
      return java(family, 'bench.KStreamsBench');
    case 'bytewax':
    case 'pathway':
      return python(family);
    default:
      throw new Error(`There is no engine "${name}".`);
  }
}

function node(program: string): Engine {
  return { command: process.execPath, args: [`${PROGRAMS}${program}`], isThere: true };
}

function java(family: string, main: string): Engine {
  const [classes, jars] = [`${FOLDER}java/classes-${family}`, `${FOLDER}java/lib-${family}`];
  return {
    command: 'java',
    args: [...JAVA_OPTIONS, '-cp', `${classes}:${jars}/*`, main],
    isThere: existsSync(classes),
  };
}

function python(family: string): Engine {
  const command = `${FOLDER}py/${family}/bin/python`;
  return { command, args: [`${FOLDER}py/${family}_bench.py`], isThere: existsSync(command) };
}
