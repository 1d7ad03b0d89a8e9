// What exports look like: by name, so that a reader of index.ts knows the surface of a package.
const exportsByName = [
  { selector: 'ExportDefaultDeclaration', message: 'Export by name.' },
  { selector: 'ExportAllDeclaration[source.value=/^[^.]/]', message: 'Name what you pass on from another package.' },
];

// A promise keeps a reaction of every race that it was in until it settles: one that lives as long as an attempt collects them for as long.
const race = {
  selector: "CallExpression[callee.object.name='Promise'][callee.property.name=/^(race|any)$/]",
  message:
    'Wait with untilAborted for the end of something, or with withinTime: a race stays with its promises until they settle.',
};

export const namedExports = {
  name: 'weir/named-exports',
  files: ['packages/*/src/**/*.ts'],
  rules: { 'no-restricted-syntax': ['error', ...exportsByName, race] },
};

// A job must behave the same when it is replayed and when it is simulated, so time and chance come in through a Clock and
// arguments. Only files below an `adapters` folder may touch the real ones.
const message = 'Take a Clock, a Random or an id source as an argument; the real ones belong in an adapters/ folder.';

const globals = ['setTimeout', 'setInterval', 'setImmediate'];
const properties = [
  ['Date', 'now'],
  ['Math', 'random'],
  ['performance', 'now'],
  ['performance', 'timeOrigin'],
  ['crypto', 'randomUUID'],
  ['crypto', 'getRandomValues'],
  ...['globalThis', 'global'].flatMap((object) => globals.map((property) => [object, property])),
];

export const determinism = {
  name: 'weir/determinism',
  files: ['packages/*/src/**/*.ts'],
  ignores: ['**/adapters/**'],
  rules: {
    'no-restricted-globals': ['error', ...globals.map((name) => ({ name, message }))],
    'no-restricted-properties': ['error', ...properties.map(([object, property]) => ({ object, property, message }))],
    'no-restricted-imports': [
      'error',
      {
        paths: [
          { name: 'node:timers', message },
          { name: 'node:timers/promises', message },
          { name: 'node:perf_hooks', importNames: ['performance'], message },
          { name: 'node:crypto', importNames: ['randomUUID', 'randomBytes', 'randomInt'], message },
        ],
      },
    ],
    'no-restricted-syntax': [
      'error',
      ...exportsByName,
      race,
      { selector: "NewExpression[callee.name='Date'][arguments.length=0]", message },
      { selector: "CallExpression[callee.name='Date']", message },
    ],
  },
};
