import { align, barrier, batch, type StreamElement } from '@weir/core/barrier';
import { Subject } from 'rxjs';

const left = new Subject<StreamElement<string>>();
const right = new Subject<StreamElement<string>>();
align([left, right], { maxBlocked: 1000 }).subscribe((element) => {
  console.log(element.kind === 'batch' ? element.records.join(' ') : element.kind);
});

left.next(batch(['before']));
left.next(barrier(1));
left.next(batch(['after'])); // held back: the barrier has not come from the right yet
right.next(batch(['also before']));
right.next(barrier(1));
