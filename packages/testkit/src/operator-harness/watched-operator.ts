import { WeirError, type StreamElement } from '@weir/core/contracts';
import type { Flow, Operator, OperatorContext, OperatorSpec, Stream } from '@weir/core/operators';
import { Observable } from 'rxjs';
import { Callbacks } from './callbacks.js';
import { FrozenRecords } from './frozen-records.js';
import { LentState } from './lent-state.js';

export interface Watch {
  /** `closing`: between two records the flow closes at every opportunity, so that the operator has to suspend. */
  readonly flow: 'as-it-is' | 'closing';
  /** `lent`: values read from keyed state expire with the callback. */
  readonly state: 'as-it-is' | 'lent';
}

/**
 * Puts every operator of the job that `stream` belongs to under watch: the records that go in and come out are frozen, and what an operator emits
 * outside of its callbacks fails the job with PROTOCOL_VIOLATION.
 */
export function watchOperators(stream: Stream<unknown>, watch: Watch): void {
  // Looks behind the stream: a wrapper around each stream would change the graph, and with it how operators are chained.
  for (const node of stream['~node'].graph.nodes)
    if (node.kind === 'operator') Object.assign(node, { spec: watched(node.spec, watch) });
}

function watched(spec: OperatorSpec, watch: Watch): OperatorSpec {
  return {
    name: spec.name,
    isStateful: spec.isStateful,
    create(context) {
      const records = new FrozenRecords();
      const callbacks = new Callbacks(() => {
        state.takeBack();
      });
      const state = new LentState({
        operator: context.uid,
        mayUse: () => callbacks.areRunning,
        isSpared: (part) => records.has(part),
        violated: (error) => {
          fail(context, error);
        },
      });
      const operator = spec.create(watchedContext(context, watch, callbacks, state));
      return watchedOperator(operator, context, callbacks, records);
    },
  };
}

function watchedContext(
  context: OperatorContext,
  watch: Watch,
  callbacks: Callbacks,
  state: LentState,
): OperatorContext {
  return {
    ...context,
    flow: watch.flow === 'closing' ? closingFlow(context.flow, callbacks) : openFlow(context.flow, callbacks, watch),
    async openKeyedState(declarations) {
      const store = await context.openKeyedState(declarations);
      return watch.state === 'lent' ? state.lendFrom(store, declarations) : store;
    },
    runInMailbox(action) {
      context.runInMailbox(() => {
        callbacks.run(action);
      });
    },
    timer: (delayMs, action) =>
      context.timer(delayMs, () => {
        callbacks.run(action);
      }),
  };
}

function watchedOperator(
  operator: Operator,
  context: OperatorContext,
  callbacks: Callbacks,
  records: FrozenRecords,
): Required<Operator> {
  const freeze = (element: StreamElement<unknown>): void => {
    if (element.kind === 'batch') records.freeze(element.records);
  };
  const entering = (input: Observable<StreamElement<never>>): Observable<StreamElement<never>> =>
    new Observable((target) =>
      input.subscribe({
        next(element) {
          freeze(element);
          callbacks.run(() => {
            target.next(element);
          });
        },
        error: (error: unknown) => {
          target.error(error);
        },
        complete: () => {
          target.complete();
        },
      }),
    );
  const leaving = (output: Observable<StreamElement<unknown>>): Observable<StreamElement<unknown>> =>
    new Observable((target) =>
      output.subscribe({
        next(element) {
          if (!callbacks.areRunning) {
            fail(context, emittedOutside(context));
            return;
          }
          freeze(element);
          target.next(element);
        },
        error: (error: unknown) => {
          target.error(error);
        },
        complete: () => {
          target.complete();
        },
      }),
    );
  return {
    hasUnionState: operator.hasUnionState,
    connect: (...inputs) => leaving(operator.connect(...inputs.map(entering))),
    restore: (state) => operator.restore?.(state),
    open: () => operator.open?.(),
    finish: () => callbacks.runUntilSettled(() => operator.finish?.()),
    prepare: (checkpointId, kind) => callbacks.runUntilSettled(() => operator.prepare?.(checkpointId, kind)),
    capture: (checkpointId, mode) => operator.capture?.(checkpointId, mode),
    completed: (checkpointId) => operator.completed?.(checkpointId),
    aborted: (checkpointId) => {
      operator.aborted?.(checkpointId);
    },
    close: (end) => operator.close?.(end),
  };
}

/** Fails the job from its own mailbox: where the fault was made nobody may be there to catch anything. */
function fail(context: OperatorContext, error: WeirError): void {
  context.runInMailbox(() => {
    throw error;
  });
}

function emittedOutside({ uid, job }: OperatorContext): WeirError {
  return new WeirError(
    'PROTOCOL_VIOLATION',
    `Operator ${uid} of job ${job} emitted outside of its callbacks (records, watermarks, prepare, finish, runInMailbox): ` +
      'no checkpoint knows of such a record. Hand it to runInMailbox.',
    { recoverable: false },
  );
}

/** Never closes while state is lent: an operator that stops in the middle of a batch keeps what it has emitted so far to itself. */
function openFlow(flow: Flow, callbacks: Callbacks, { state }: Watch): Flow {
  return { ...resuming(flow, callbacks), isOpen: () => state === 'lent' || flow.isOpen() };
}

/** Open only at the first look after a resumption, so that an operator which looks before every record gets on too. */
function closingFlow(flow: Flow, callbacks: Callbacks): Flow {
  let isOpen = false;
  return {
    ...resuming(flow, callbacks, () => {
      isOpen = true;
    }),
    isOpen() {
      const was = isOpen;
      isOpen = false;
      return was;
    },
  };
}

function resuming(flow: Flow, callbacks: Callbacks, before: () => void = () => undefined): Omit<Flow, 'isOpen'> {
  return {
    suspend(resume) {
      flow.suspend(() => {
        callbacks.run(() => {
          before();
          resume();
        });
      });
    },
    waitFor: (settled) => {
      flow.waitFor(settled);
    },
  };
}
