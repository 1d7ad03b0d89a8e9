import { fsBackend } from '@weir/backend-fs';
import { datagen } from '@weir/connectors/datagen';
import { fileSink, jsonLines } from '@weir/connectors/file';
import { checkpointCoordinator } from '@weir/coordinator';
import { createEnvironment, formatSavepointReport, type Environment } from '@weir/core';
import { keyBy, keyedProcess, valueState, type Emit, type StateOptions } from '@weir/core/operators';
import { filter, firstValueFrom } from 'rxjs';

/** A program whose state may have changed. */
function describe(changes: StateOptions<number> = {}): Environment {
  const storage = fsBackend({ checkpointsDir: './state', savepointsDir: './savepoints' });
  const env = createEnvironment({ plugins: [checkpointCoordinator(), storage] });
  env.enableCheckpointing('20 ms');
  env
    .from(datagen({ ratePerSecond: 1000 }), { uid: 'numbers' })
    .pipe(
      keyBy((n) => n % 3),
      keyedProcess({
        uid: 'sums',
        state: { sum: valueState<number>({ initial: () => 0, ...changes }) },
        onRecord(n: number, { state: { sum } }, emit: Emit<number>) {
          sum.update(sum.value() + n);
          emit(sum.value());
        },
      }),
    )
    .to(fileSink({ dir: './out', format: jsonLines() }), { uid: 'out' });
  return env;
}

const job = await describe().start('sums');
await firstValueFrom(job.events$.pipe(filter(({ kind }) => kind === 'checkpoint-completed')));
const { pointer } = await job.stopWithSavepoint();

for (const changes of [{ version: 2 }, { version: 2, migrate: { 1: (euros: number) => euros * 100 } }]) {
  const report = await describe(changes).checkSavepoint('sums', pointer);
  console.log(formatSavepointReport(report));
}
