import { Ajv, type ErrorObject, type FuncKeywordDefinition, type ValidateFunction } from 'ajv';
import { messageOf, WeirError } from '../errors.js';
import { nearest } from './nearest.js';
import { inspectShort } from './inspect-short.js';
import { readValue, type ValueType } from './value-type.js';

/** The schema of named settings: plain JSON Schema each, plus the keyword `holds` with a {@link ValueType}. */
export type SettingsSchema = Readonly<Record<string, object>>;

/**
 * Checks settings and says in a sentence each what is wrong.
 * Works in place: what `holds` has read replaces the text it was read from, and defaults of the schema are filled in.
 */
export type SettingsCheck = (settings: Record<string, unknown>) => readonly string[];

/** Compiles a schema. Fails with PLUGIN_INVALID, naming `owner`, if the schema itself makes no sense. */
export function compileSettings(owner: string, properties: SettingsSchema): SettingsCheck {
  // An instance per schema, because ajv keeps every schema it has compiled. Without the meta schema it costs a millisecond.
  const ajv = new Ajv({
    allErrors: true,
    verbose: true,
    useDefaults: true,
    strictTypes: false,
    logger: false,
    meta: false,
  });
  ajv.addKeyword(HOLDS);
  let validate: ValidateFunction;
  try {
    validate = ajv.compile({ type: 'object', properties, additionalProperties: false });
  } catch (error) {
    const message = `${owner}: its options schema is not valid: ${messageOf(error)}`;
    throw new WeirError('PLUGIN_INVALID', message, { cause: error, recoverable: false });
  }
  const names = Object.keys(properties);
  return (settings) => (validate(settings) ? [] : (validate.errors ?? []).map((error) => sentence(error, names)));
}

type Holds = NonNullable<FuncKeywordDefinition['validate']>;

const holds: Holds = (type: ValueType, value: unknown, _schema, at) => {
  const reading = readValue(type, value);
  if (!reading.ok) {
    holds.errors = [{ keyword: 'holds', message: reading.problem }];
    return false;
  }
  // ajv types the parent as any.
  if (at !== undefined) (at.parentData as Record<string | number, unknown>)[at.parentDataProperty] = reading.value;
  return true;
};

const HOLDS: FuncKeywordDefinition = {
  keyword: 'holds',
  schemaType: 'object',
  modifying: true,
  errors: true,
  validate: holds,
};

function sentence(error: ErrorObject, names: readonly string[]): string {
  if (error.keyword === 'additionalProperties') {
    const { additionalProperty } = error.params as { additionalProperty: string };
    const close = nearest(additionalProperty, names);
    const others = names.length === 0 ? 'there are no options' : `known are ${names.join(', ')}`;
    const hint = close === undefined ? others : `did you mean ${close}?`;
    return `${additionalProperty} is not known: ${hint}`;
  }
  const path = error.instancePath.slice(1).split('/').map(unescapePointer).join('.');
  return `${path} ${error.message ?? 'is not valid'}, but is ${inspectShort(error.data)}`;
}

function unescapePointer(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~');
}
