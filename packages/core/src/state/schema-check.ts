import { WeirError, messageOf } from '../errors.js';
import type { StateSchema } from './evolution.js';

/** Makes a test of a schema: what is wrong with a value, to go on after "value"; undefined for one that is as the schema wants it. */
export type CompileSchema = (schema: StateSchema) => (value: unknown) => string | undefined;

/** Holds restored values against the schema of their state. */
export class SchemaCheck {
  readonly #schema: StateSchema;
  readonly #state: string;
  #faultOf: ReturnType<CompileSchema> | undefined;

  /** `state` names it in errors: "state 'total' of operator 'delays'". */
  constructor(schema: StateSchema, state: string) {
    this.#schema = schema;
    this.#state = state;
  }

  /** Before the first value. CONFIG_INVALID for a schema that makes no sense. */
  compile(compile: CompileSchema): void {
    try {
      this.#faultOf ??= compile(this.#schema);
    } catch (cause) {
      throw new WeirError('CONFIG_INVALID', `The schema of ${this.#state} is not valid: ${messageOf(cause)}`, {
        cause,
        recoverable: false,
      });
    }
  }

  /** STATE_SCHEMA_VIOLATED, saying where, for a value that the schema refuses. */
  require(value: unknown): void {
    if (this.#faultOf === undefined)
      throw new WeirError('PROTOCOL_VIOLATION', `The schema of ${this.#state} was not compiled.`);
    const fault = this.#faultOf(value);
    if (fault === undefined) return;
    throw new WeirError(
      'STATE_SCHEMA_VIOLATED',
      `A restored value of ${this.#state} does not match its schema: value${fault}. ` +
        `Raise the version of the state and add a step to migrate, or correct the schema.`,
      { recoverable: false },
    );
  }
}
