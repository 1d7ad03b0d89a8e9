const BRACE = 0x7b;

/**
 * Where the savepoint was of which these bytes are the place-holder in a job's own directory, which lies there in place of `_metadata` after a stop
 * (JSON, by the coordinator). Undefined: they are something else.
 */
export function referencedSavepoint(bytes: Uint8Array): string | undefined {
  if (bytes[0] !== BRACE) return undefined;
  try {
    const { format, pointer } = JSON.parse(Buffer.from(bytes).toString('utf8')) as Record<string, unknown>;
    return format === 'weir-savepoint-reference' && typeof pointer === 'string' ? pointer : undefined;
  } catch {
    return undefined;
  }
}
