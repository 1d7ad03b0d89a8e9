import { subtaskName } from '../element/ids.js';
import type { DeployedSubtask } from './deploy.js';

/** Subtasks that are named one by one. */
const MOST_NAMED = 3;

/** Says whom the end of an attempt waits for; undefined: for nobody. */
export function closingWords(deployed: readonly DeployedSubtask[]): string | undefined {
  const names = deployed.flatMap(({ subtask }) => {
    const { closing } = subtask;
    return closing === undefined ? [] : [`${closing} of ${subtaskName(subtask.id)}`];
  });
  const more = names.length > MOST_NAMED ? `, and ${String(names.length - MOST_NAMED)} more` : '';
  return names.length === 0 ? undefined : `${names.slice(0, MOST_NAMED).join(', ')}${more}`;
}
