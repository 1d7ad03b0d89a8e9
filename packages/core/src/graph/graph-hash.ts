import type { StageDescription } from '../contracts/coordinator.js';
import { ByteWriter } from '../element/bytes.js';
import { murmur3 } from '../element/key-hash.js';

/** An edge of the plan, as far as it matters here. */
interface Crossing {
  readonly from: string;
  readonly to: string;
  readonly input: number;
  readonly partitioning: { readonly kind: string };
}

/** Tells two plans apart: operators with their uids and parallelism, chaining, edges and how records cross them. */
export function graphHash(stages: readonly StageDescription[], edges: readonly Crossing[]): string {
  const crossings = edges.map(({ from, to, input, partitioning }) => [from, to, input, partitioning.kind]);
  const out = new ByteWriter(1024);
  out.utf8(JSON.stringify([stages, crossings]));
  const bytes = out.view();
  const half = bytes.length >>> 1;
  return [murmur3(bytes), murmur3(bytes.subarray(half))]
    .map((hash) => (hash >>> 0).toString(16).padStart(8, '0'))
    .join('');
}
