import type { Process } from './harness.js';

/** Where and when a process can die. */
export interface MortalOptions {
  readonly process: Process;
  /** The how-manieth point (before or after any step of the storage or of a commit) it dies at. */
  readonly dieAt: number;
  /** Told of each step of the storage before the process may die of it. */
  readonly onStep: (step: string, when: 'before' | 'after') => void;
  /** The sink's output becomes visible up to this checkpoint. */
  readonly onVisible: (id: number) => void;
  /** What the process does; it makes output visible through what it is given. */
  readonly life: (makeVisible: (id: number) => Promise<void>) => Promise<void>;
}

/** Lives until death or until life has come to its end. Tells where it died; undefined: it did not. */
export async function liveMortally({
  process,
  dieAt,
  onStep,
  onVisible,
  life,
}: MortalOptions): Promise<string | undefined> {
  let points = 0;
  const end: { death?: string; isReached?: boolean } = {};
  const reach = async (point: string): Promise<void> => {
    if (end.death === undefined && points++ === dieAt) {
      end.death = point;
      process.storage.die();
    }
    if (end.death !== undefined) await new Promise(() => undefined);
  };
  process.storage.intercept = (step, when) => {
    onStep(step, when);
    return reach(`${when} ${step}`);
  };
  const makeVisible = async (id: number): Promise<void> => {
    await reach(`before commit ${String(id)}`);
    onVisible(id);
    await reach(`after commit ${String(id)}`);
  };
  const failures: unknown[] = [];
  void life(makeVisible).then(
    () => {
      end.isReached = true;
    },
    (error: unknown) => failures.push(error),
  );
  while (Object.keys(end).length + failures.length === 0) await process.clock.settle();
  // Whatever else was under way at that moment gets its chance, too.
  await process.clock.settle();
  if (failures.length > 0) throw new Error(`died ${end.death ?? 'nowhere'}`, { cause: failures[0] });
  return end.death;
}
