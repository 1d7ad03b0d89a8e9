import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ByteReader, ByteWriter } from '../../src/element/bytes.js';

type Item =
  | { readonly kind: 'u8' | 'u16' | 'u32' | 'i32' | 'f64' | 'varint'; readonly value: number }
  | { readonly kind: 'text'; readonly value: string }
  | { readonly kind: 'block'; readonly value: Uint8Array };

const number = (
  kind: 'u8' | 'u16' | 'u32' | 'i32' | 'f64' | 'varint',
  value: fc.Arbitrary<number>,
): fc.Arbitrary<Item> => value.map((each) => ({ kind, value: each }));
const anyItem: fc.Arbitrary<Item> = fc.oneof(
  number('u8', fc.integer({ min: 0, max: 0xff })),
  number('u16', fc.integer({ min: 0, max: 0xffff })),
  number('u32', fc.integer({ min: 0, max: 0xffffffff })),
  number('i32', fc.integer()),
  number('f64', fc.double()),
  number(
    'varint',
    fc.oneof(
      fc.maxSafeNat(),
      fc.integer({ min: 0, max: 52 }).map((n) => 2 ** n),
      fc.nat({ max: 300 }),
    ),
  ),
  fc
    .oneof(fc.string({ unit: 'binary', maxLength: 200 }), fc.string({ maxLength: 50 }))
    .map((value) => ({ kind: 'text' as const, value })),
  fc.uint8Array({ maxLength: 300 }).map((value) => ({ kind: 'block' as const, value })),
);

function write(item: Item, out: ByteWriter): void {
  switch (item.kind) {
    case 'text':
      out.text(item.value);
      break;
    case 'block':
      out.block(item.value);
      break;
    default:
      out[item.kind](item.value);
  }
}

test('what is written comes back in order, whatever the writer had room for', () => {
  fc.assert(
    fc.property(fc.array(anyItem, { maxLength: 30 }), fc.integer({ min: 1, max: 64 }), (items, capacity) => {
      const out = new ByteWriter(capacity);
      for (const item of items) write(item, out);
      const from = new ByteReader(out.view());
      const read = items.map(({ kind }) => ({
        kind,
        value: kind === 'block' ? new Uint8Array(from.block()) : from[kind](),
      }));
      expect(read).toEqual(items);
      expect(from.remaining).toBe(0);
    }),
  );
});

test('reading past the end is a RangeError at any cut, never a shorter value', () => {
  fc.assert(
    fc.property(fc.array(anyItem, { minLength: 1, maxLength: 8 }), (items) => {
      const out = new ByteWriter();
      for (const item of items) write(item, out);
      const { kind } = items.at(-1)!;
      const whole = out.view();
      const from = new ByteReader(whole, 0, whole.length - 1);
      for (const item of items.slice(0, -1)) from[item.kind]();
      expect(() => from[kind]()).toThrow(RangeError);
    }),
  );
});

test('a copy of the bytes is plain, and stays as it is when the writer is used again', () => {
  const out = new ByteWriter();
  out.u32(0);
  out.u8(7);
  out.patchU32(0, 0x01020304);
  out.patchU8(4, 9);
  const copy = out.toBytes();
  out.reset();
  out.f64(1);
  expect(copy).toEqual(Uint8Array.of(1, 2, 3, 4, 9));
});
