import type { Binder, OptionsSchema, Plugin, PluginFactory } from '../contracts/plugin.js';
import { WeirError, type ErrorCode } from '../errors.js';
import type { PluginKey } from './configuration.js';
import { installNow } from './install-now.js';
import { copyPlain, isPlainObject } from './plain-object.js';
import { accepted, refused, type Reading } from './reading.js';
import { inspectShort } from './inspect-short.js';
import { compileSettings, type SettingsCheck } from './validation.js';
import { readValue } from './value-type.js';

/** What a plugin is made of. `O` are the options that its users may set. */
export interface PluginSpec<O extends object> {
  /** The npm package's name; a package with several plugins adds a word: '@acme/weir-stores/lmdb'. */
  readonly name: string;
  /**
   * A JSON Schema for each option. Besides JSON Schema there is `{ holds: { kind: 'duration' } }` (also 'memory-size', 'count', 'number',
   * 'boolean', 'one-of', 'text', with min, max, above, below): it reads '10 s' as 10000 and '20 kb' as 20480.
   */
  readonly options: OptionsSchema & { readonly properties: { readonly [N in keyof O]-?: object } };
  /** The configuration key that fills an option which code leaves out: `{ dir: 'state.backend.lmdb.dir' }`. */
  readonly keys?: Readonly<Partial<Record<keyof O & string, string>>>;
  /** Provides candidates. The options are checked, and set by code, else by the configuration, else by a `default` of the schema. */
  install(binder: Binder, options: Readonly<O>): void;
}

/**
 * Besides installing itself, a plugin from `definePlugin` says which keys it reads and takes what the configuration holds for them.
 * A string key, so that a plugin made by another copy of weir is known too.
 */
export interface ConfigurablePlugin extends Plugin {
  readonly '~configurable': {
    /** What its user set in code. */
    readonly options: Readonly<Record<string, unknown>>;
    readonly keys: readonly PluginKey[];
    install(binder: Binder, settings: ReadonlyMap<string, unknown>): void;
  };
}

export function isConfigurable(plugin: Plugin): plugin is ConfigurablePlugin {
  return '~configurable' in plugin;
}

/**
 * Makes a plugin factory: `const lmdb = definePlugin({ … })`, then `plugins: [lmdb({ dir: 'x' })]`.
 * The factory fails with PLUGIN_INVALID, naming plugin and option, if code gives it anything that the schema refuses.
 */
// `{}` is what a plugin without options takes; an index signature would make every name an option.
// eslint-disable-next-line @typescript-eslint/no-empty-object-type
export function definePlugin<O extends object = {}>(spec: PluginSpec<O>): PluginFactory<O> {
  const { name } = spec;
  let compiled: SettingsCheck | undefined;
  const check: SettingsCheck = (settings) => {
    compiled ??= compileSettings(name, spec.options.properties);
    return compiled(settings);
  };
  const keys = Object.entries<string | undefined>(spec.keys ?? {}).flatMap(([option, key]) =>
    key === undefined ? [] : [{ option, key }],
  );

  const factory = (options?: O): Plugin => {
    const inCode = setOptions(name, options);
    refuse(name, check(copyPlain(inCode) as Record<string, unknown>));
    const install = (binder: Binder, settings: ReadonlyMap<string, unknown>): void => {
      const options: Record<string, unknown> = {};
      for (const { option, key } of keys) if (settings.has(key)) options[option] = copyPlain(settings.get(key));
      for (const [option, value] of Object.entries(inCode)) options[option] = copyPlain(value);
      refuse(name, check(options));
      refuseMissing(name, spec.options.required ?? [], options, keys);
      // The schema has just held for it.
      installNow(name, () => spec.install(binder, options as O));
    };
    const plugin: ConfigurablePlugin = {
      name,
      install: (binder) => {
        install(binder, new Map());
      },
      '~configurable': {
        options: inCode,
        keys: keys.map(({ option, key }) => ({
          key,
          read: (value) => readOption(option, spec.options.properties, check, value),
        })),
        install,
      },
    };
    return plugin;
  };
  return Object.assign(factory, { plugin: { name, options: spec.options } });
}

function setOptions(plugin: string, options: object | undefined): Readonly<Record<string, unknown>> {
  if (options !== undefined && !isPlainObject(options)) {
    throw pluginError(
      'PLUGIN_INVALID',
      `${plugin}: its options must be an object, { … }, but are ${inspectShort(options)}`,
    );
  }
  return Object.fromEntries(Object.entries(options ?? {}).filter(([, value]) => value !== undefined));
}

/** Text of a configuration is read as the schema's type: '3' as 3 where an integer is wanted. */
function readOption(
  option: string,
  schema: Readonly<Record<string, object>>,
  check: SettingsCheck,
  value: unknown,
): Reading<unknown> {
  const { type } = (schema[option] ?? {}) as { type?: unknown };
  const settings = { [option]: copyPlain(fromText(type, value)) };
  const problems = check(settings);
  return problems.length > 0 ? refused(problems.join('; ')) : accepted(settings[option]);
}

function fromText(type: unknown, value: unknown): unknown {
  if (typeof value !== 'string' || (type !== 'integer' && type !== 'number' && type !== 'boolean')) return value;
  const reading = readValue({ kind: type === 'integer' ? 'count' : type }, value);
  return reading.ok ? reading.value : value;
}

function refuse(plugin: string, problems: readonly string[]): void {
  if (problems.length > 0) throw pluginError('PLUGIN_INVALID', `${plugin}: option ${problems.join('; option ')}`);
}

function refuseMissing(
  plugin: string,
  required: readonly string[],
  options: Readonly<Record<string, unknown>>,
  keys: readonly { readonly option: string; readonly key: string }[],
): void {
  const missing = required.find((option) => options[option] === undefined);
  if (missing === undefined) return;
  const key = keys.find(({ option }) => option === missing)?.key;
  const ways = key === undefined ? 'set it in code' : `set it in code, or ${key} in the configuration`;
  throw pluginError('PLUGIN_INVALID', `${plugin}: option ${missing} is missing: ${ways}`);
}

function pluginError(code: ErrorCode, message: string): WeirError {
  return new WeirError(code, message, { recoverable: false });
}
