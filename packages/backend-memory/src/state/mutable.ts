/** User code can change such a value without telling the state that holds it. */
export function isMutable(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}
