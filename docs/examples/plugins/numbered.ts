import { defaultSerializer } from '@weir/core/contracts';
import { perBatch, transform, type OperatorOptions, type StreamOperator } from '@weir/core/operators';

/** Numbers the records of each subtask, from 0, over restarts too. Its state belongs to the subtask, not to a key. */
export function numbered<T>(options: OperatorOptions = {}): StreamOperator<T, readonly [number, T]> {
  return (stream) =>
    transform(
      [stream],
      {
        name: 'numbered',
        isStateful: true,
        create(context) {
          let next = 0;
          return {
            async restore(state) {
              const [stored] = await state.operatorState('next', defaultSerializer);
              next = stored as number;
            },
            connect: (input) =>
              input.pipe(
                perBatch<T, readonly [number, T]>(context, ({ records }, target) => {
                  target.next({ kind: 'batch', records: records.map((record) => [next++, record] as const) });
                }),
              ),
            capture: () => ({
              operatorState: [{ name: 'next', mode: 'list', serializer: defaultSerializer, values: [next] }],
            }),
          };
        },
      },
      options,
    );
}
