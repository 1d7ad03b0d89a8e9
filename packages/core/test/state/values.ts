import fc from 'fast-check';

/** Primitives of all kinds that the default serializer takes. */
export const anyPrimitive: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(
    undefined,
    null,
    true,
    false,
    0,
    -0,
    NaN,
    Infinity,
    -Infinity,
    '',
    2 ** 31,
    -(2 ** 31),
    2 ** 32,
    2 ** 53,
  ),
  fc.integer(),
  fc.double(),
  fc.string({ unit: 'binary' }),
  fc.bigInt(),
  fc.bigInt({ min: -(2n ** 200n), max: 2n ** 200n }),
);

const names = fc.oneof(
  fc.constantFrom(
    'a',
    'b',
    'constructor',
    'toString',
    'hasOwnProperty',
    'length',
    'size',
    '0',
    '10',
    '-1',
    '',
    'then',
    'toJSON',
    'prototype',
  ),
  fc.string({ unit: 'binary', maxLength: 5 }).filter((name) => name !== '__proto__' && name !== '__keys__'),
);

/** How one object of a graph is made; numbers in `refs` lead to other objects of the graph, also back. */
interface Node {
  readonly kind: 'record' | 'array' | 'map' | 'set' | 'error' | 'date' | 'regexp' | 'bytes' | 'floats' | 'buffer';
  readonly names: readonly string[];
  readonly refs: readonly (number | undefined)[];
  readonly primitives: readonly unknown[];
}

const anyNode: fc.Arbitrary<Node> = fc.record({
  kind: fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom<Node['kind']>('record', 'array', 'map', 'set') },
    { weight: 1, arbitrary: fc.constantFrom<Node['kind']>('error', 'date', 'regexp', 'bytes', 'floats', 'buffer') },
  ),
  names: fc.uniqueArray(names, { minLength: 4, maxLength: 4 }),
  refs: fc.array(fc.option(fc.nat({ max: 40 }), { nil: undefined, freq: 3 }), { maxLength: 4 }),
  primitives: fc.array(anyPrimitive, { minLength: 4, maxLength: 4 }),
});

/** Objects of every kind the default serializer takes, sharing each other and leading back to each other. */
export const anyGraph: fc.Arbitrary<object> = fc.array(anyNode, { minLength: 1, maxLength: 40 }).map((nodes) => {
  const objects = nodes.map(emptyOf);
  for (const [i, node] of nodes.entries()) fill(objects[i]!, node, objects);
  return objects[0]!;
});

function emptyOf({ kind, primitives }: Node): object {
  switch (kind) {
    case 'record':
      return {};
    case 'array':
      return [];
    case 'map':
      return new Map();
    case 'set':
      return new Set();
    case 'error':
      return new TypeError(`failed ${typeof primitives[0]}`, { cause: primitives[1] });
    case 'date':
      return new Date(Math.trunc(Math.abs(Number(primitives[0] ?? 0)) % 8.64e15));
    case 'regexp':
      return /a[/]b/giu;
    case 'bytes':
      return new Uint8Array([1, 2, primitives.length]);
    case 'floats':
      return new Float64Array([0, -0, NaN, 1.5]);
    case 'buffer':
      return Buffer.from('weir');
  }
}

function fill(target: object, node: Node, objects: readonly object[]): void {
  for (const [i, ref] of node.refs.entries()) {
    const content = ref === undefined ? node.primitives[i] : objects[ref % objects.length];
    if (node.kind === 'record') (target as Record<string, unknown>)[node.names[i]!] = content;
    else if (node.kind === 'array') (target as unknown[]).push(content);
    else if (node.kind === 'map') (target as Map<unknown, unknown>).set(i % 2 === 0 ? node.names[i] : content, content);
    else if (node.kind === 'set') (target as Set<unknown>).add(content);
  }
}
