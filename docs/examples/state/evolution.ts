import { droppedState, keyedProcess, mapState, valueState } from '@weir/core/operators';
import type { Emit, KeyedStream, Stream } from '@weir/core/operators';
import type { SourceGrade } from '@weir/core/contracts';

export interface Order {
  readonly customer: string;
  readonly article: string;
  readonly cents: number;
}
export interface Spent {
  readonly amount: number;
  readonly currency: string;
}

/** What each customer has spent, and on what. The third program to have this state: older ones kept euros, then cents, and visits. */
export function spending<G extends SourceGrade>(orders: KeyedStream<Order, string, G>): Stream<Spent, G> {
  return keyedProcess({
    uid: 'spending',
    state: {
      spent: valueState<Spent>({
        initial: () => ({ amount: 0, currency: 'EUR' }),
        version: 3,
        migrate: {
          1: (euros: number) => Math.round(euros * 100),
          2: (cents: number): Spent => ({ amount: cents, currency: 'EUR' }),
        },
        schema: { type: 'object', required: ['amount', 'currency'], properties: { amount: { type: 'integer' } } },
      }),
      byArticle: mapState<string, number>({ renamedFrom: 'byProduct' }),
      visits: droppedState(),
    },
    onRecord({ article, cents }: Order, { state: { spent, byArticle } }, emit: Emit<Spent>) {
      const before = spent.value();
      byArticle.set(article, (byArticle.get(article) ?? 0) + cents);
      spent.update({ ...before, amount: before.amount + cents });
      emit(spent.value());
    },
  })(orders);
}
