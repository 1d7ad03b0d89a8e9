import assert from 'node:assert/strict';
import type { CheckpointLocation, JobStorage } from '@weir/core/contracts';
import {
  content,
  equalBytes,
  failsWith,
  find,
  listed,
  writeBlob,
  writeCheckpoint,
  type Check,
  type Damage,
} from './fixture.js';

/** Writing and reading the parts of a checkpoint. */
export function blobChecks(check: Check): void {
  check('gives back blobs byte for byte, of any length and in chunks of any size', async ({ open }) => {
    const job = await open();
    const location = await job.create(1);
    const lengths = [0, 1, 4095, 4096, 20_479, 20_480, 20_481, 65_536, 300_000];
    const handles = [];
    for (const length of lengths) {
      for (const chunk of [777, 4096, 30_000, length + 1]) {
        handles.push({ length, handle: await writeBlob(location, content(length), chunk) });
      }
    }
    await location.publish(Uint8Array.of(1));
    const stored = await find(job, 1);
    for (const { length, handle } of handles) equalBytes(await job.read(stored, handle), content(length));
  });

  check('reads by handles that were copied', async ({ open }) => {
    const job = await open();
    const handles = await writeCheckpoint(job, 1, [content(10), content(200_000)]);
    const stored = structuredClone({ ...(await find(job, 1)) });
    for (const [index, length] of [10, 200_000].entries()) {
      equalBytes(await job.read(stored, structuredClone(handles[index]!)), content(length));
    }
  });

  check('does not need the chunk any more once a write has settled', async ({ open }) => {
    const job = await open();
    const location = await job.create(1);
    const blob = location.createBlob();
    const expected = content(300_000);
    for (let at = 0; at < expected.length;) {
      // The engine's chunks are Buffers, of which `slice` makes no copy.
      const chunk = Buffer.from(expected.slice(at, at + 1 + (at % 30_011)));
      at += chunk.length;
      await blob.write(chunk);
      chunk.fill(255);
    }
    const handle = await blob.finish();
    await location.publish(Uint8Array.of(1));
    equalBytes(await job.read(location, handle), expected);
  });

  check('keeps blobs apart that are written at the same time', async ({ open }) => {
    const job = await open();
    const [one, two] = [await job.create(1), await job.create(2)];
    const write = (location: CheckpointLocation, seed: number): Promise<unknown> =>
      writeBlob(location, content(100_000, seed), 5000);
    const handles = await Promise.all([one, one, two, two].map((location, seed) => write(location, seed)));
    await Promise.all([one.publish(Uint8Array.of(1)), two.publish(Uint8Array.of(2))]);
    for (const [seed, handle] of handles.entries()) {
      const bytes = await job.read(seed < 2 ? one : two, handle as Awaited<ReturnType<typeof writeBlob>>);
      equalBytes(bytes, content(100_000, seed));
    }
  });

  check('completes a checkpoint without the blobs that were aborted', async ({ open }) => {
    const job = await open();
    const location = await job.create(1);
    const kept = await writeBlob(location, content(100_000));
    const [opened, written, finished] = [location.createBlob(), location.createBlob(), location.createBlob()];
    await written.write(content(100_000));
    await finished.write(content(100_000));
    await finished.finish();
    for (const blob of [opened, written, finished]) {
      await blob.abort();
      await blob.abort();
    }
    await failsWith('STORAGE_FAILED', () => written.write(Uint8Array.of(1)));
    await failsWith('STORAGE_FAILED', () => opened.finish());
    await location.publish(Uint8Array.of(1));
    equalBytes(await job.read(location, kept), content(100_000));
    assert.deepEqual(await listed(job), ['1']);
  });

  check('refuses more bytes for a blob that is finished', async ({ open }) => {
    const location = await (await open()).create(1);
    const blob = location.createBlob();
    await blob.write(content(10));
    await blob.finish();
    await failsWith('STORAGE_FAILED', () => blob.write(Uint8Array.of(1)));
    await failsWith('STORAGE_FAILED', () => blob.finish());
  });

  check('gives back any part of a blob, if it reads parts', async ({ open }) => {
    const job = await open();
    const [handle] = await writeCheckpoint(job, 1, [content(100_000)]);
    if (job.readPart === undefined || handle?.kind !== 'blob') return;
    const stored = await find(job, 1);
    for (const [offset, length] of [
      [0, 1],
      [0, 100_000],
      [4095, 4098],
      [99_999, 1],
    ] as const) {
      const bytes = await job.readPart(stored, handle, { offset, length });
      equalBytes(bytes, content(100_000).subarray(offset, offset + length));
    }
  });

  for (const damage of ['shortened', 'removed'] as const) {
    check(`does not give out a part of a blob that was ${damage} before its end, if it reads parts`, async (bench) => {
      const job = await bench.open();
      const [handle] = await writeCheckpoint(job, 42, [content(100_000)]);
      if (bench.fixture.damage === undefined || job.readPart === undefined || handle?.kind !== 'blob') return;
      const stored = await find(job, 42);
      await bench.fixture.damage(stored, handle, damage);
      const read = job.readPart.bind(job, stored, handle, { offset: 90_000, length: 10_000 });
      const error = await failsWith('CHECKPOINT_UNREADABLE', read);
      assert.match(error.message, /\b42\b/, 'the message names the checkpoint');
      assert(error.message.includes(handle.path), 'the message names the blob');
    });
  }

  const damages: readonly Damage[] = ['changed', 'shortened', 'lengthened', 'removed'];
  for (const damage of damages) {
    check(`does not give out a blob that was ${damage}, and says which it is`, async ({ fixture, open }) => {
      if (fixture.damage === undefined) return;
      const job: JobStorage = await open();
      const [handle, other] = await writeCheckpoint(job, 42, [content(100_000), content(100_000, 1)]);
      const stored = await find(job, 42);
      assert(handle?.kind === 'blob' && other, 'a blob of 100,000 bytes is not inline');
      await fixture.damage(stored, handle, damage);
      const error = await failsWith('CHECKPOINT_UNREADABLE', () => job.read(stored, handle));
      assert.match(error.message, /\b42\b/, 'the message names the checkpoint');
      assert(error.message.includes(handle.path), 'the message names the blob');
      equalBytes(await job.read(stored, other), content(100_000, 1));
    });
  }
}
