/** False for a string with a surrogate that has no partner: UTF-8 cannot carry it. Takes no time for one-byte strings. */
export function isWellFormed(text: string): boolean {
  return text.isWellFormed();
}
