import { Observable, type OperatorFunction } from 'rxjs';

/** RxJS operators whose output depends on more than one value, on when a stream begins or ends, or on time, by the files in which they are. */
const REMEMBERING: ReadonlySet<string> = new Set(
  (
    'audit buffer bufferCount bufferTime bufferToggle bufferWhen debounce debounceTime distinct distinctUntilChanged every find groupBy isEmpty ' +
    'mergeScan pairwise sample scan sequenceEqual single skipLast skipUntil skipWhile switchScan take takeLast takeUntil takeWhile throttle ' +
    'timeInterval window windowCount windowTime windowToggle windowWhen withLatestFrom'
  ).split(' '),
);
const FILE_OF_OPERATOR = /internal[\\/]operators[\\/](\w+?)(?:Internals)?\.[cm]?js/g;

/**
 * The name of an RxJS operator that remembers; undefined if it is none, or if nobody can tell, as in a bundle. Operators look alike, so it is looked at
 * from where one subscribes to what is in front of it.
 */
export function rememberingOperator(operator: OperatorFunction<unknown, unknown>): string | undefined {
  let calls = '';
  const source = new Observable<unknown>(() => {
    calls = new Error('subscribed').stack ?? '';
  });
  const { stackTraceLimit } = Error;
  // Several operators in a row are some calls each.
  Error.stackTraceLimit = 200;
  try {
    source
      .pipe(operator)
      .subscribe({ error: () => undefined })
      .unsubscribe();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
  for (const [, name] of calls.matchAll(FILE_OF_OPERATOR)) if (name !== undefined && REMEMBERING.has(name)) return name;
  return undefined;
}
