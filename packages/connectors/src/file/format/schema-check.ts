import { messageOf, WeirError } from '@weir/core/contracts';
import type { Ajv, Options } from 'ajv';
import type { Ajv2019 } from 'ajv/dist/2019.js';
import type { Ajv2020 } from 'ajv/dist/2020.js';

/** What is wrong with a value, or undefined. */
export type SchemaCheck = (value: unknown) => string | undefined;

const checks = new WeakMap<object, Promise<SchemaCheck>>();

/**
 * Compiles a JSON Schema, once however many files are read with it. Fails with CONFIG_INVALID if it is none, or if something in it would not be
 * checked: a keyword or a format that is unknown, another draft, `$async`.
 */
export function schemaCheck(schema: object): Promise<SchemaCheck> {
  let check = checks.get(schema);
  if (check === undefined) {
    check = compile(schema);
    checks.set(schema, check);
  }
  return check;
}

async function compile(schema: object): Promise<SchemaCheck> {
  try {
    if ('$async' in schema) throw new Error('$async is not supported: a line is checked at once');
    const ajv = await ajvFor(schema);
    const { default: addFormats } = await import('ajv-formats');
    addFormats.default(ajv);
    const validate = ajv.compile(schema);
    return (value) =>
      validate(value) ? undefined : `does not fit the schema: ${ajv.errorsText(validate.errors, { dataVar: 'line' })}`;
  } catch (error) {
    throw new WeirError('CONFIG_INVALID', `The schema of jsonLines() cannot be used: ${messageOf(error)}`, {
      cause: error,
      recoverable: false,
    });
  }
}

/** Strict: what the validator does not know is refused and not passed over. How types and tuples are written is left to the schema. */
const OPTIONS: Options = {
  strict: true,
  strictTypes: false,
  strictTuples: false,
  strictRequired: false,
  allowUnionTypes: true,
  logger: false,
};

async function ajvFor(schema: object): Promise<Ajv | Ajv2019 | Ajv2020> {
  const { $schema: draft } = schema as { readonly $schema?: unknown };
  switch (typeof draft === 'string' ? draft.replace(/^https?:\/\/|#$/g, '') : draft) {
    case undefined:
    case 'json-schema.org/draft-07/schema': {
      const { Ajv } = await import('ajv');
      return new Ajv(OPTIONS);
    }
    case 'json-schema.org/draft/2019-09/schema': {
      const { Ajv2019 } = await import('ajv/dist/2019.js');
      return new Ajv2019(OPTIONS);
    }
    case 'json-schema.org/draft/2020-12/schema': {
      const { Ajv2020 } = await import('ajv/dist/2020.js');
      return new Ajv2020(OPTIONS);
    }
    default:
      throw new Error(`its $schema is ${JSON.stringify(draft)}, but known are draft 7, 2019-09 and 2020-12`);
  }
}
