// msgpackr writes -0 as 0. Its results are ordinary in computed values (Math.round(-0.2), 0 * -1), so rather than refuse them their places are
// stored beside the packed value: the numbers that the -0s have among all zeros, counted in an order that value and copy share.

/** The numbers of the -0s inside `value`, ascending. */
export function findNegativeZeros(value: object): number[] {
  const numbers: number[] = [];
  let count = 0;
  forEachZero(value, (zero) => {
    if (Object.is(zero, -0)) numbers.push(count);
    count++;
  });
  return numbers;
}

/** Makes -0 of the zeros with these numbers. */
export function putNegativeZeros(value: object, numbers: readonly number[]): void {
  let next = 0;
  let count = 0;
  forEachZero(value, (_, replace) => {
    if (count++ !== numbers[next]) return;
    replace(-0);
    next++;
  });
}

type Visit = (zero: number, replace: (zero: number) => void) => void;

function forEachZero(root: object, visit: Visit): void {
  // A Set also iterates over what is added meanwhile.
  const containers = new Set([root]);
  const slot = (content: unknown, replace: (zero: number) => void): void => {
    if (content === 0) visit(content, replace);
    else if (typeof content === 'object' && content !== null) containers.add(content);
  };
  for (const container of containers) forEachSlot(container, slot);
}

function forEachSlot(container: object, slot: (content: unknown, replace: (zero: number) => void) => void): void {
  if (ArrayBuffer.isView(container)) return;
  if (container instanceof Map) {
    for (const [key, entry] of container as Map<unknown, unknown>) {
      if (typeof key === 'object') slot(key, noReplacement);
      slot(entry, (zero) => void container.set(key, zero));
    }
  } else if (container instanceof Set) {
    for (const element of container as Set<unknown>) if (typeof element === 'object') slot(element, noReplacement);
  } else if (container instanceof Error) {
    slot(container.cause, (zero) => void (container.cause = zero));
  } else {
    const record = container as Record<string, unknown>;
    for (const name of Object.keys(record)) slot(record[name], (zero) => void (record[name] = zero));
  }
}

/** Keys of a Map and elements of a Set are never -0. */
function noReplacement(): void {
  // Only zeros are replaced.
}
