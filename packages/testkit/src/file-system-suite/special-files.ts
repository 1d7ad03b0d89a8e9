import assert from 'node:assert/strict';
import { settlesWithin } from '../adapters/deadline.js';
import { names, read, rejects, write, bytes, type CheckFileSystem } from './checks.js';

/** A call that does not wait for anybody settles sooner, on whatever machine. */
const MOST_MS = 2000;

/** Checks links, which are followed or removed, and FIFOs, for which nobody waits. */
export function specialFileChecks(check: CheckFileSystem): void {
  check('follows a link to what is read or listed, and says with lstat that it is one', async (fs, root, fixture) => {
    if (fixture.makeLink === undefined) return;
    await write(fs, `${root}/file`, bytes('12345'));
    await fs.makeDirectory(`${root}/folder`);
    await write(fs, `${root}/folder/inner`, bytes('x'));
    await fixture.makeLink(`${root}/file`, `${root}/to-file`);
    await fixture.makeLink(`${root}/folder`, `${root}/to-folder`);
    await fixture.makeLink(`${root}/nothing`, `${root}/to-nothing`);
    const links = (await fs.readDirectory(root)).filter(({ name }) => name.startsWith('to-'));
    assert.deepEqual(
      links.map(({ kind }) => kind),
      ['other', 'other', 'other'],
    );
    for (const { name } of links) assert.equal((await fs.lstat(`${root}/${name}`)).kind, 'other');
    assert.equal((await fs.stat(`${root}/to-file`)).size, 5);
    assert.equal((await fs.stat(`${root}/to-folder`)).kind, 'directory');
    assert.equal(await read(fs, `${root}/to-file`), '12345');
    assert.deepEqual(await names(fs, `${root}/to-folder`), ['inner']);
    assert.equal(await fs.makeDirectory(`${root}/to-folder`), 'exists');
    await rejects(fs.stat(`${root}/to-nothing`), 'ENOENT');
    await rejects(fs.readFile(`${root}/to-nothing`), 'ENOENT');
    await rejects(fs.open(`${root}/to-nothing`, 'create'), 'EEXIST');
    await rejects(fs.open(`${root}/to-file`, 'create'), 'EEXIST');
  });

  check('removes and replaces links themselves, and never what they lead to', async (fs, root, fixture) => {
    const makeLink = fixture.makeLink?.bind(fixture);
    if (makeLink === undefined) return;
    await fs.makeDirectory(`${root}/kept`);
    await write(fs, `${root}/kept/file`, bytes('x'));
    const keepsAll = async (): Promise<void> => assert.deepEqual(await names(fs, `${root}/kept`), ['file']);
    for (const remove of ['remove', 'removeTree'] as const) {
      for (const target of [`${root}/kept`, `${root}/kept/file`, `${root}/nothing`]) {
        await makeLink(target, `${root}/link`);
        await fs[remove](`${root}/link`);
        await rejects(fs.lstat(`${root}/link`), 'ENOENT');
        await keepsAll();
      }
    }
    await fs.makeDirectory(`${root}/tree`);
    await fs.makeDirectory(`${root}/tree/inner`);
    await makeLink(`${root}/kept`, `${root}/tree/link`);
    await makeLink(`${root}/kept`, `${root}/tree/inner/link`);
    await fs.removeTree(`${root}/tree`);
    await keepsAll();
    await makeLink(`${root}/kept/file`, `${root}/link`);
    await write(fs, `${root}/new`, bytes('new'));
    await fs.rename(`${root}/new`, `${root}/link`);
    assert.equal((await fs.lstat(`${root}/link`)).kind, 'file');
    assert.equal(await read(fs, `${root}/kept/file`), 'x');
  });

  check('waits for nobody at the other end of a FIFO', async (fs, root, fixture) => {
    if (fixture.makeFifo === undefined) return;
    await fixture.makeFifo(`${root}/fifo`);
    assert.equal((await fs.stat(`${root}/fifo`)).kind, 'other');
    assert.equal((await fs.lstat(`${root}/fifo`)).kind, 'other');
    assert.deepEqual(
      (await fs.readDirectory(root)).map(({ kind }) => kind),
      ['other'],
    );
    for (const call of [
      () => fs.open(`${root}/fifo`, 'read'),
      () => fs.open(`${root}/fifo`, 'append'),
      () => fs.readFile(`${root}/fifo`),
      () => fs.readDirectory(`${root}/fifo`),
      () => fs.syncDirectory(`${root}/fifo`),
    ]) {
      const answer = call();
      assert(await settlesWithin(MOST_MS, answer), `${String(call)} does not wait`);
      await assert.rejects(answer);
    }
    await fs.removeTree(`${root}/fifo`);
    assert.deepEqual(await fs.readDirectory(root), []);
  });
}
