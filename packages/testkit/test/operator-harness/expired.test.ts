import { describe, expect, test } from 'vitest';
import { expire } from '../../src/operator-harness/expired.js';

class Point {
  readonly x = 1;
  norm(): number {
    return Math.abs(this.x);
  }
}
const spoilt = <T>(value: T, isSpared: (part: object) => boolean = () => false): T => {
  expire(value, isSpared, () => new Error('expired'));
  return value;
};

describe('an expired value throws when', () => {
  test.each<[string, () => unknown]>([
    ['a property is read', () => spoilt({ a: 1 }).a],
    ['a property is written', () => (spoilt<{ a: number }>({ a: 1 }).a = 2)],
    ['a property is looked for that it never had', () => spoilt<{ a: number; b?: number }>({ a: 1 }).b],
    ['a property is added', () => (spoilt<{ a: number; b?: number }>({ a: 1 }).b = 2)],
    ['it is copied', () => ({ ...spoilt({ a: 1 }) })],
    ['it is made JSON', () => JSON.stringify(spoilt({ a: 1 }))],
    ['an element is read', () => spoilt([1])[0]],
    ['it is iterated over', () => [...spoilt([1])]],
    ['it is appended to', () => spoilt([1]).push(2)],
    ['a map is read', () => spoilt(new Map([[1, 2]])).get(1)],
    ['a map is measured', () => spoilt(new Map([[1, 2]])).size],
    ['a set is written', () => spoilt(new Set([1])).add(2)],
    ['a date is read', () => spoilt(new Date(0)).getTime()],
    ['a method is called', () => spoilt(new Point()).norm()],
    ['bytes are measured', () => spoilt(new Uint8Array(3)).length],
  ])('%s', (_, use) => {
    expect(use).toThrow('expired');
  });

  test('a part of it is used', () => {
    const value = { list: [{ a: 1 }], map: new Map([['k', { b: 2 }]]) };
    const item = value.list[0];
    const entry = value.map.get('k');
    spoilt(value);
    expect(() => item?.a).toThrow('expired');
    expect(() => entry?.b).toThrow('expired');
  });

  test('it contains itself', () => {
    const circle: { self?: unknown } = {};
    circle.self = circle;
    spoilt(circle);
    expect(() => circle.self).toThrow('expired');
  });
});

test('spared parts stay as they are', () => {
  const spared = { a: [1] };
  const value = { spared };
  spoilt(value, (part) => part === spared);
  expect(spared).toEqual({ a: [1] });
  expect(() => value.spared).toThrow('expired');
});

test('values without insides are left alone', () => {
  for (const value of [1, 'text', undefined, null, true, 1n]) expect(spoilt(value)).toBe(value);
});
