const throwing = (): never => {
  throw new Error('from a getter');
};
const withGetters = (names: readonly string[], get: () => unknown): Error => {
  const error = new Error('boom');
  for (const name of names) Object.defineProperty(error, name, { get, configurable: true });
  return error;
};
const endless = (): Error => Object.defineProperty(new Error('boom'), 'cause', { get: endless });
/** Throws whatever is done to it. */
const untouchable = (): object => {
  const traps = Object.getOwnPropertyNames(Reflect).map((name) => [name, throwing] as const);
  return new Proxy(new Error('boom'), Object.fromEntries(traps));
};
const revoked = (): object => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};

/** What code of others may throw, made anew each time. */
export const HOSTILE: readonly (readonly [string, () => unknown])[] = [
  ['undefined', () => undefined],
  ['null', () => null],
  ['an empty text', () => ''],
  ['a text', () => 'boom'],
  ['zero', () => 0],
  ['a bigint', () => 5n],
  ['a symbol', () => Symbol('boom')],
  ['a function', () => (): void => undefined],
  ['an error without a message', () => new Error('')],
  ['a frozen error', () => Object.freeze(new Error('boom'))],
  ['an object without a prototype', () => Object.create(null) as object],
  ['an error whose message throws', () => withGetters(['message'], throwing)],
  [
    'an error of which everything throws',
    () => withGetters(['stack', 'message', 'cause', 'code', 'name', 'recoverable', 'toString', '~weir'], throwing),
  ],
  ['an error whose message is no text', () => withGetters(['message'], () => ({ toString: throwing }))],
  ['an error without an end of causes', endless],
  ['a proxy that throws', untouchable],
  ['a revoked proxy', revoked],
];
