/** A file that is complete, durable and hidden: what a checkpoint holds of it. Names are relative to the sink's folder, which may be moved. */
export interface PreparedFile {
  readonly pending: string;
  readonly final: string;
  /** In bytes. */
  readonly length: number;
}

export type Publication =
  | { readonly kind: 'rename' }
  | { readonly kind: 'published' }
  /** Both are there: only if they are the same is it published. */
  | { readonly kind: 'compare' }
  /** It was published, and somebody has taken it away since. */
  | { readonly kind: 'taken' }
  | { readonly kind: 'impossible'; readonly reason: string };

/**
 * What is to be done to publish a file, by the sizes of what lies under its two names (undefined: nothing), and by whether a commit of it had begun
 * before: a file that is under neither name was published and taken away if so, and lost if not.
 */
export function decidePublication(
  { pending, final, length }: PreparedFile,
  pendingSize: number | undefined,
  finalSize: number | undefined,
  hasBegun: boolean,
): Publication {
  const expected = `instead of ${String(length)} bytes`;
  if (finalSize !== undefined && finalSize !== length)
    return impossible(`${final} has ${String(finalSize)} ${expected}`);
  if (finalSize === length) return pendingSize === length ? { kind: 'compare' } : { kind: 'published' };
  if (pendingSize === length) return { kind: 'rename' };
  if (pendingSize !== undefined) return impossible(`${pending} has ${String(pendingSize)} ${expected}`);
  return hasBegun ? { kind: 'taken' } : impossible(`neither ${pending} nor ${final} is there`);
}

function impossible(reason: string): Publication {
  return { kind: 'impossible', reason };
}
