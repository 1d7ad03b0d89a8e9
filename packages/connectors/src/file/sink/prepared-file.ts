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
  | { readonly kind: 'impossible'; readonly reason: string };

/** What is to be done to publish a file, by the sizes of what lies under its two names; undefined: nothing. */
export function decidePublication(
  { pending, final, length }: PreparedFile,
  pendingSize: number | undefined,
  finalSize: number | undefined,
): Publication {
  if (pendingSize === length) return { kind: 'rename' };
  const expected = `instead of ${String(length)} bytes`;
  if (pendingSize !== undefined) return impossible(`${pending} has ${String(pendingSize)} ${expected}`);
  if (finalSize === length) return { kind: 'published' };
  if (finalSize !== undefined) return impossible(`${final} has ${String(finalSize)} ${expected}`);
  return impossible(`neither ${pending} nor ${final} is there`);
}

function impossible(reason: string): Publication {
  return { kind: 'impossible', reason };
}
