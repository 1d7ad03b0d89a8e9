import { messageOf, subtaskName, type JobEvent } from '@weir/core/contracts';

/** An event of a job in one line. */
export function describeEvent(event: JobEvent): string {
  const fields = Object.entries(event).filter(
    ([name, value]) => name !== 'at' && name !== 'kind' && value !== undefined,
  );
  return `${event.kind} ${fields.map(([name, value]) => `${name}=${shown(name, value)}`).join(' ')}`.trimEnd();
}

function shown(name: string, value: unknown): string {
  if (name === 'subtask') return subtaskName(value as Parameters<typeof subtaskName>[0]);
  if (value instanceof Error) return messageOf(value);
  return typeof value === 'string' ? value : JSON.stringify(value);
}
