import { messageOf, WeirError } from '@weir/core/contracts';

/** What is wrong with a value, or undefined. */
export type SchemaCheck = (value: unknown) => string | undefined;

const checks = new WeakMap<object, Promise<SchemaCheck>>();

/** Compiles a JSON Schema, once however many files are read with it. Fails with CONFIG_INVALID if it is none. */
export function schemaCheck(schema: object): Promise<SchemaCheck> {
  let check = checks.get(schema);
  if (check === undefined) {
    check = compile(schema);
    checks.set(schema, check);
  }
  return check;
}

async function compile(schema: object): Promise<SchemaCheck> {
  const { Ajv } = await import('ajv');
  const ajv = new Ajv({ strict: false, logger: false });
  try {
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
