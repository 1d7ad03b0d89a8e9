/** Ways to get the contract wrong. */
export type Flaw =
  // in captures
  | 'reads the state when it writes'
  | 'shares objects with the state'
  | 'shares lists with the state'
  | 'forgets what was cleared'
  | 'finds keys that came later'
  | 'loses entries of maps'
  | 'writes groups in any order'
  | 'overwrites what is not taken yet'
  | 'does not wait until a section is taken'
  | 'never pauses'
  | 'does not stop when given up'
  | 'releases all captures at once'
  // in the state
  | 'takes falsy values for none'
  | 'stores what is only read'
  | 'mixes up keys that look alike'
  | 'stays with the key it knows'
  | 'holds what it held before'
  | 'fails the record'
  | 'replaces rows instead of adding them'
  | 'takes rows of any serializer'
  | 'takes rows of any kind'
  | 'takes keys of others'
  | 'sweeps nothing away'
  | 'sweeps what lives'
  | 'can be used when closed'
  | 'is always pressed';
export type Has = (flaw: Flaw) => boolean;
