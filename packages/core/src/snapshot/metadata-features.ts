import type { CheckpointMetadata } from '../contracts/metadata.js';
import { blobsOfKeyed } from './blobs-of-keyed.js';

export type Feature =
  'shared-files' | 'changes' | 'native-state' | 'key-types' | 'destinations' | 'kept-for-user' | 'record-keys';

/** Every feature that this version reads, in the order in which files name them. */
export const FEATURES: readonly Feature[] = [
  'shared-files',
  'changes',
  'native-state',
  'key-types',
  'destinations',
  'kept-for-user',
  'record-keys',
];

/** What a reader of these metadata has to know beyond format version 1: files that need nothing stay readable by the first release. */
export function featuresOf({ operators, keptForUser = [] }: CheckpointMetadata): readonly Feature[] {
  const subtasks = operators.flatMap((operator) => operator.subtasks);
  const handles = subtasks.flatMap(({ keyed }) => keyed);
  const isNeeded: Readonly<Record<Feature, boolean>> = {
    'shared-files': handles.flatMap(blobsOfKeyed).some(({ kind }) => kind === 'shared'),
    changes: handles.some(({ format }) => format === 'changes'),
    'native-state': handles.some(({ format }) => format === 'native'),
    'key-types': subtasks.some(({ keyTypes }) => keyTypes !== undefined),
    destinations: subtasks.some(({ committables }) => committables !== undefined),
    'kept-for-user': keptForUser.length > 0,
    'record-keys': subtasks.some(({ channels }) => channels.some(({ keyed }) => keyed === true)),
  };
  return FEATURES.filter((feature) => isNeeded[feature]);
}
