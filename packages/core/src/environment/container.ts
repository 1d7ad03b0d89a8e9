import { ContainerInstance, Token } from 'typedi';
import type { Binder, Role, Scope } from '../contracts/plugin.js';
import { messageOf, WeirError, type ErrorCode } from '../errors.js';
import { ambiguousPlugin, missingPlugin } from './plugin-errors.js';
import { selectCandidate, type Candidate, type CandidateLevel } from './select-candidate.js';

/** Roles are invariant, so where the service's type does not matter only the name is asked for. */
type AnyRole = Pick<Role<never>, 'name'>;

interface Registration extends Candidate {
  readonly role: string;
  readonly token: Token<Outcome>;
}

/** In a box, because typedi cannot hold undefined and calls `destroy()` of whatever it holds, without waiting. */
type Outcome =
  { readonly kind: 'created'; readonly service: unknown } | { readonly kind: 'failed'; readonly error: unknown };

/**
 * The services of one job: candidates by role, created when first asked for, once, and closed with the job in reverse order.
 * Works on a ContainerInstance of its own; nothing of it enters typedi's global container, so a job that is over leaves nothing behind.
 */
export class JobContainer implements Scope {
  readonly #services = new ContainerInstance('weir.job');
  readonly #registrations = new Map<string, Registration[]>();
  readonly #supplied = new Map<string, unknown>();
  readonly #choices: ReadonlyMap<string, string>;
  readonly #created: unknown[] = [];
  readonly #beingCreated: Registration[] = [];
  #closed: Promise<void> | undefined;

  /** `choices`: the type or package that the configuration wants, by the name of the role. */
  constructor(choices: ReadonlyMap<string, string> = new Map()) {
    this.#choices = choices;
  }

  /** What a plugin's `install` gets. */
  binder(plugin: string, level: CandidateLevel = 'environment'): Binder {
    return {
      provide: (role, type, create) => {
        this.#provide({ role: role.name, type, plugin, level, token: new Token(role.name) }, create);
      },
    };
  }

  /** A service of the host: used unless a plugin provides the role, and never closed here. */
  supply<T>(role: Role<T>, service: T): void {
    this.#supplied.set(role.name, service);
  }

  has(role: AnyRole): boolean {
    return this.#registrations.has(role.name) || this.#supplied.has(role.name);
  }

  /** Everything that was provided for a role, in order. */
  candidates(role: AnyRole): readonly Candidate[] {
    return this.#registrations.get(role.name) ?? [];
  }

  /** The role's service. Fails with PLUGIN_MISSING, PLUGIN_AMBIGUOUS, PLUGIN_CYCLE, or what its factory threw. */
  get<T>(role: Role<T>): T {
    const registrations = this.#registrations.get(role.name) ?? [];
    const choice = this.#choices.get(role.name);
    const selection = selectCandidate(role.name, registrations, choice);
    switch (selection.kind) {
      case 'one':
        return this.#resolve(selection.candidate) as T;
      case 'several':
        throw ambiguousPlugin(role.name, selection.candidates, choice);
      case 'none':
        if (this.#supplied.has(role.name)) return this.#supplied.get(role.name) as T;
        throw missingPlugin([{ role: role.name, choice, neededBy: this.#asking() }]);
      case 'not-installed': {
        const installed = registrations.map(({ type }) => type);
        throw missingPlugin([{ role: role.name, choice, installed, neededBy: this.#asking() }]);
      }
      default:
        return selection satisfies never;
    }
  }

  /** The service of one of `candidates(role)`. */
  getCandidate<T>(role: Role<T>, candidate: Candidate): T {
    const registration = this.#registrations.get(role.name)?.find((r) => r === candidate);
    if (registration === undefined)
      throw containerError('PROTOCOL_VIOLATION', `${candidate.type} is no candidate for ${role.name}`);
    return this.#resolve(registration) as T;
  }

  /** Fails with one PLUGIN_MISSING for all the roles that nothing fills. */
  require(...roles: readonly AnyRole[]): void {
    const missing = roles.filter((role) => !this.has(role));
    if (missing.length > 0)
      throw missingPlugin(missing.map(({ name }) => ({ role: name, choice: this.#choices.get(name) })));
  }

  /** Closes what was created, the latest first, each awaited. Fails with PLUGIN_DISPOSE after all had their turn; its cause holds every error. */
  [Symbol.asyncDispose](): Promise<void> {
    return (this.#closed ??= this.#close());
  }

  #provide(registration: Registration, create: (scope: Scope) => unknown): void {
    const { role, type, plugin, token } = registration;
    if (typeof type !== 'string' || type.trim() === '' || typeof create !== 'function') {
      throw containerError(
        'PLUGIN_INVALID',
        `${plugin}: provide(${role}, type, create) takes a type that is not empty and a function`,
      );
    }
    const others = this.#registrations.get(role);
    if (others === undefined) this.#registrations.set(role, [registration]);
    else others.push(registration);
    this.#services.set({ id: token, factory: () => this.#create(registration, create) });
  }

  #resolve(registration: Registration): unknown {
    if (this.#beingCreated.includes(registration)) throw this.#cycle(registration);
    const outcome = this.#services.get(registration.token);
    if (outcome.kind === 'failed') throw outcome.error;
    return outcome.service;
  }

  #create(registration: Registration, create: (scope: Scope) => unknown): Outcome {
    const { role, type, plugin } = registration;
    if (this.#closed !== undefined)
      throw containerError('PROTOCOL_VIOLATION', `${role} (${type}) was asked for after the job had ended`);
    this.#beingCreated.push(registration);
    try {
      const service = create(this);
      if (service === undefined || service === null) {
        throw containerError('PLUGIN_INVALID', `${plugin}: its factory of ${role} (${type}) returned nothing`);
      }
      this.#created.push(service);
      return { kind: 'created', service };
    } catch (error) {
      return { kind: 'failed', error };
    } finally {
      this.#beingCreated.pop();
    }
  }

  async #close(): Promise<void> {
    // Nothing is closed before `#closed` is set, which a factory called from a dispose method must find.
    await Promise.resolve();
    const errors: unknown[] = [];
    for (const service of new Set(this.#created.reverse())) {
      try {
        await dispose(service as Partial<AsyncDisposable & Disposable>);
      } catch (error) {
        errors.push(error);
      }
    }
    this.#created.length = 0;
    if (errors.length === 0) return;
    const message = `${String(errors.length)} of the job's services could not be closed: ${errors.map(messageOf).join('; ')}`;
    throw new WeirError('PLUGIN_DISPOSE', message, { cause: new AggregateError(errors, message) });
  }

  #cycle(registration: Registration): WeirError {
    const circle = [...this.#beingCreated.slice(this.#beingCreated.indexOf(registration)), registration];
    return containerError(
      'PLUGIN_CYCLE',
      `services need each other in a circle: ${circle.map(({ role }) => role).join(' -> ')}`,
    );
  }

  /** Name of the service that is being created, which is the one that asks. */
  #asking(): string | undefined {
    const asking = this.#beingCreated.at(-1);
    return asking === undefined ? undefined : `${asking.role} of ${asking.plugin}`;
  }
}

async function dispose(service: Partial<AsyncDisposable & Disposable>): Promise<void> {
  if (typeof service[Symbol.asyncDispose] === 'function') await service[Symbol.asyncDispose]?.();
  else if (typeof service[Symbol.dispose] === 'function') service[Symbol.dispose]?.();
}

function containerError(code: ErrorCode, message: string): WeirError {
  return new WeirError(code, message, { recoverable: false });
}
