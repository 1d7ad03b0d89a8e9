import { Ajv } from 'ajv';
import type { CompileSchema } from '../state/schema-check.js';

/** Schemas of states by ajv. Throws what ajv says of a schema that is not valid. */
export const compileStateSchema: CompileSchema = (schema) => {
  // An instance per schema, because ajv keeps every schema it has compiled. Not strict: a schema may be of another tool, with words of its own.
  const validate = new Ajv({ strict: false, logger: false }).compile(schema);
  return (value) => {
    if (validate(value)) return undefined;
    const [error] = validate.errors ?? [];
    return `${pathOf(error?.instancePath)} ${error?.message ?? 'is refused'}`;
  };
};

/** `/items/3/name` as one would write it. */
function pathOf(pointer = ''): string {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((step) => (/^\d+$/.test(step) ? `[${step}]` : `.${step}`))
    .join('');
}
