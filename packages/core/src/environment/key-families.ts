/** Keys of Flink that are told by how they begin, because weir treats all of them alike. */
export interface KeyFamily {
  /** The beginning of the keys, or a whole key. */
  readonly prefix: string;
  /** `cluster`: about processes that weir does not have, so ignored, with a notice. `never`: about what a job does, so refused. */
  readonly kind: 'cluster' | 'never';
  /** What the keys are about, or why weir does not follow them. */
  readonly about: string;
}

const cluster = (about: string, ...prefixes: string[]): KeyFamily[] =>
  prefixes.map((prefix) => ({ prefix, kind: 'cluster', about }));
const never = (about: string, ...prefixes: string[]): KeyFamily[] =>
  prefixes.map((prefix) => ({ prefix, kind: 'never', about }));

/** After Flink 1.20 and 2.3. A longer beginning wins over a shorter one, and the table of keys over both. */
export const KEY_FAMILIES: readonly KeyFamily[] = [
  ...cluster('the JobManager', 'jobmanager.', 'scheduler-mode', 'slow-task-detector.', 'jobstore.'),
  ...cluster('the TaskManagers', 'taskmanager.', 'task.cancellation.', 'minicluster.', 'local.number-'),
  ...cluster('their slots and memory', 'slotmanager.', 'slot.', 'resourcemanager.', 'fine-grained.', 'fine.grained.'),
  ...cluster('their resources', 'external-resource', 'statebackend.useManagedMemory'),
  ...cluster('their network', 'rest.', 'blob.', 'pekko.', 'akka.', 'heartbeat.', 'shuffle', 'client.'),
  ...cluster('their start and their end', 'cluster.', 'process.', 'env.', 'classloader.', 'plugin.', 'user.artifacts.'),
  ...cluster('their high availability', 'high-availability', 'zookeeper.', 'job-result-store.', 'cleanup-strategy'),
  ...cluster('what they keep of jobs', 'historyserver.', 'job-event.', 'application-result-store.'),
  ...cluster('what they keep of jobs', 'completed-application-store.'),
  ...cluster('their web pages', 'web.', 'pipeline.vertex-'),
  ...cluster('their reports', 'metrics.', 'traces.', 'events.', 'scope.', 'jmx.', 'queryable-state.'),
  ...cluster('where they run', 'kubernetes.', 'yarn.', 'deployment.', 'hadoop.', 'flink.hadoop.', 'internal.'),
  ...cluster('who may use them', 'security.'),
  ...cluster('file systems of Java', 'fs.', 's3.', 's3a.', 'gs.', 'oss.', 'wasb.'),
  ...cluster('how a job is submitted', 'execution.target', 'execution.attached', 'execution.shutdown-on-'),
  ...cluster(
    'how a job is submitted',
    'execution.submit-',
    'execution.terminate-application-',
    'execution.program-config.',
  ),
  ...cluster(
    'how a job is submitted',
    'execution.job-',
    'pipeline.jars',
    'pipeline.classpaths',
    'pipeline.cached-files',
  ),
  ...cluster('how a job is submitted', '$internal.', 'pipeline.jobvertex-parallelism-overrides'),
  ...never('weir has no batch mode', 'execution.batch', 'execution.sort', 'compiler.'),
  ...never('state is read and written at once, never asynchronously', 'execution.async-state.', 'state.backend.forst.'),
  ...never('a batch of records goes on as soon as there is nothing to add to it', 'execution.buffer-timeout'),
  ...never(
    'weir has no SQL and no Table API',
    'table.',
    'sql-client.',
    'sql-gateway.',
    'lookup.',
    'materialized-table.',
  ),
  ...never('weir runs no Python', 'python.'),
  ...never('values are encoded by serializers, which a state names', 'pipeline.force-', 'pipeline.registered-'),
  ...never(
    'values are encoded by serializers, which a state names',
    'pipeline.default-kryo-',
    'pipeline.serialization-config',
  ),
  ...never(
    'values are encoded by serializers, which a state names',
    'pipeline.generic-types',
    'pipeline.auto-type-registration',
  ),
  ...never('sources are not held back for each other', 'pipeline.watermark-alignment.'),
  ...never('watermarks tell the time, and where they are made says which', 'pipeline.time-characteristic'),
  ...never('the state of a job is read with the state reader', 'state.latency-track.', 'state.backend.latency-track.'),
  ...never('the state of a job is read with the state reader', 'state.size-track.'),
  ...never('RocksDB is tuned by the keys that work, and its driver decides the rest', 'state.backend.rocksdb.'),
];

/** The family that a key belongs to, unless it is a key of the table. */
export function familyOf(name: string): KeyFamily | undefined {
  let longest: KeyFamily | undefined;
  for (const family of KEY_FAMILIES) {
    if (name.startsWith(family.prefix) && family.prefix.length > (longest?.prefix.length ?? 0)) longest = family;
  }
  return longest;
}
