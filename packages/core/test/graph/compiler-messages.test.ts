import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { beforeAll, expect, test } from 'vitest';

const FOLDER = fileURLToPath(new URL('.', import.meta.url));
const PROGRAM = `${FOLDER}mistakes.ts`;

// One line each: what a beginner writes, and what the compiler must say about it.
const MISTAKES: readonly (readonly [what: string, line: string, message: RegExp])[] = [
  [
    'an asynchronous map',
    'numbers.pipe(map(async (n) => n));',
    /map is synchronous.*wait for it in the source or the sink/,
  ],
  [
    'an output that nobody named',
    'keyed.pipe(keyedProcess({ onRecord(n, _context, emit) { emit(n); } }));',
    /annotate the third parameter of the first handler: emit: Emit<YourType>/,
  ],
  [
    'an asynchronous handler',
    'keyed.pipe(keyedProcess({ async onRecord(n, _c, emit: Emit<number>) { emit(n); } }));',
    /Promise<void>.*Sync/s,
  ],
  [
    'a keyed operator without a key',
    'numbers.pipe(scan((sum: number, n: number) => sum + n, () => 0));',
    /not assignable to type 'KeyedStream</,
  ],
  [
    'a claim that is too strong',
    "numbers.to(print, { guarantee: 'exactly-once' });",
    /"exactly-once".*"at-least-once"/s,
  ],
];

let messages: ReadonlyMap<number, string>;

beforeAll(() => {
  const head = [
    "import type { Sink, Source } from '@weir/core/contracts';",
    "import { createEnvironment } from '@weir/core';",
    "import { keyBy, keyedProcess, map, scan, type Emit } from '@weir/core/operators';",
    "declare const source: Source<number, 'replayable'>;",
    "declare const print: Sink<unknown, 'at-least-once'>;",
    'const numbers = createEnvironment().from(source);',
    'const keyed = numbers.pipe(keyBy((n) => n));',
    'export const used: Emit<number> | undefined = undefined;',
  ];
  const text = [...head, ...MISTAKES.map(([, line]) => line)].join('\n');
  const { config } = ts.readConfigFile(`${FOLDER}../../tsconfig.types.json`, ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, `${FOLDER}../..`);
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists, readFile } = host;
  host.fileExists = (name) => name === PROGRAM || fileExists(name);
  host.readFile = (name) => (name === PROGRAM ? text : readFile(name));
  host.getSourceFile = (name, version, ...rest) =>
    name === PROGRAM ? ts.createSourceFile(name, text, version) : getSourceFile(name, version, ...rest);
  const program = ts.createProgram([PROGRAM], options, host);
  const file = program.getSourceFile(PROGRAM);
  const found = new Map<number, string>();
  for (const { start, messageText } of program.getSemanticDiagnostics(file)) {
    const line = (file?.getLineAndCharacterOfPosition(start ?? 0).line ?? 0) - head.length;
    found.set(line, `${found.get(line) ?? ''}${ts.flattenDiagnosticMessageText(messageText, '\n')}\n`);
  }
  messages = found;
}, 60_000);

test.each(MISTAKES.map(([what, , message], i) => ({ what, message, i })))(
  'the compiler names $what',
  ({ message, i }) => {
    expect(messages.get(i)).toMatch(message);
  },
);

test('the compiler finds nothing else wrong', () => {
  expect([...messages.keys()].filter((line) => line < 0)).toEqual([]);
});
