/** False for a string with a surrogate that has no partner: UTF-8 cannot carry it. Takes no time for one-byte strings. */
export function isWellFormed(text: string): boolean {
  // Node has it since 20.0; the type is only in the es2024 library.
  return (text as string & { isWellFormed(): boolean }).isWellFormed();
}
