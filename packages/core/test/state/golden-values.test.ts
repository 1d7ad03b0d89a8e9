import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ByteReader, ByteWriter } from '../../src/element/bytes.js';
import { defaultSerializer } from '../../src/state/default-serializer.js';
import { differenceOf } from './same-value.js';
import { SURVIVORS } from './survivors.js';

/** Bytes that version 1 once wrote, by the name of the value. */
const GOLDEN = JSON.parse(
  readFileSync(new URL('../golden/values-msgpack-v1.json', import.meta.url), 'utf8'),
) as Readonly<Record<string, string>>;

test.each(Object.keys(GOLDEN))("version 1 of the serializer 'msgpack' still reads %s", (name) => {
  const from = new ByteReader(Buffer.from(GOLDEN[name]!, 'hex'));
  expect(differenceOf(SURVIVORS[name], defaultSerializer.decode(from))).toBe(undefined);
  expect(from.remaining).toBe(0);
});

test('every kind of value has its bytes stored', () => {
  const missing = Object.keys(SURVIVORS).filter((name) => GOLDEN[name] === undefined && bytesOf(name).length <= 1000);
  expect(missing).toEqual([]);
});

function bytesOf(name: string): Uint8Array {
  const out = new ByteWriter();
  defaultSerializer.encode(SURVIVORS[name], out);
  return out.toBytes();
}
