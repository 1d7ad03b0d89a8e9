import type { Sink } from '../contracts/sink.js';
import type { Source } from '../contracts/source.js';
import type { Serializer } from '../contracts/serializer.js';
import { WeirError } from '../errors.js';
import { checkedSerializer } from '../state/checked-serializer.js';

/** What a program in JavaScript takes for a source: said here, before a restart strategy tries it again and again. */
export function requireSource(source: unknown): asserts source is Source<unknown> {
  if (typeof (source as Partial<Source<unknown>> | null | undefined)?.enumerator === 'function') {
    requireSerializerOf(source as Source<unknown>, 'a source');
    return;
  }
  const hint =
    typeof (source as { subscribe?: unknown } | null | undefined)?.subscribe === 'function'
      ? 'an Observable: wrap it in fromObservable(...) of @weir/connectors/rxjs.'
      : Array.isArray(source)
        ? 'an array: wrap it in collection(...) of @weir/connectors/collection.'
        : `${kindOf(source)}: make one with a connector, such as fileSource({ ... }).`;
  throw new WeirError('CONFIG_INVALID', `env.from takes a source, but was given ${hint}`, { recoverable: false });
}

export function requireSink(sink: unknown): asserts sink is Sink<unknown> {
  if (typeof (sink as Partial<Sink<unknown>> | null | undefined)?.open === 'function') {
    requireSerializerOf(sink as Sink<unknown>, 'a sink');
    return;
  }
  const hint =
    typeof sink === 'object' && sink !== null && 'sink' in sink
      ? 'an object that has one: give its property sink.'
      : `${kindOf(sink)}: make one with a connector, such as fileSink({ ... }).`;
  throw new WeirError('CONFIG_INVALID', `to(...) takes a sink, but was given ${hint}`, { recoverable: false });
}

function requireSerializerOf({ serializer }: { readonly serializer?: Serializer | undefined }, owner: string): void {
  if (serializer !== undefined) checkedSerializer(serializer, owner);
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  return typeof value === 'function' ? 'a function' : `${typeof value === 'object' ? 'an' : 'a'} ${typeof value}`;
}
