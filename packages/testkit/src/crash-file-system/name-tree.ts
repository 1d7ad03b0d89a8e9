import { posix } from 'node:path';
import type { CrashOutcome } from './crash-outcome.js';
import { FileError } from './file-error.js';
import { newFolder, type FolderNode, type NameChange, type Node } from './nodes.js';

/** Names, and which changes of them are not durable yet. */
export class NameTree {
  readonly #root: FolderNode;
  #changes: NameChange[];

  constructor(root: FolderNode = newFolder(), changes: NameChange[] = []) {
    this.#root = root;
    this.#changes = changes;
  }

  /** What is at `path`, if its folder exists: ENOTDIR if something on the way is a file. */
  find(path: string, syscall: string): Node | undefined {
    let node: Node | undefined = this.#root;
    for (const name of namesOf(path)) {
      if (node === undefined) return undefined;
      if (node.kind !== 'directory') throw new FileError('ENOTDIR', syscall, path);
      node = node.entries.get(name);
    }
    return node;
  }
  get(path: string, syscall: string): Node {
    const node = this.find(path, syscall);
    if (node === undefined) throw new FileError('ENOENT', syscall, path);
    return node;
  }
  folder(path: string, syscall: string): FolderNode {
    const node = this.get(path, syscall);
    if (node.kind !== 'directory') throw new FileError('ENOTDIR', syscall, path);
    return node;
  }

  /** Lets a name stand for `node`, or for nothing. The folder must exist. */
  set(path: string, node: Node | undefined, syscall: string, after?: NameChange): NameChange {
    const resolved = posix.resolve('/', path);
    const folder = this.folder(posix.dirname(resolved), syscall);
    const name = posix.basename(resolved);
    if (node === undefined) folder.entries.delete(name);
    else folder.entries.set(name, node);
    const change = { folder, name, path: resolved, node, after };
    this.#changes.push(change);
    return change;
  }

  rename(from: string, to: string): void {
    const node = this.get(from, 'rename');
    const target = this.find(to, 'rename');
    if (target === node) return;
    if (`${posix.resolve('/', to)}/`.startsWith(`${posix.resolve('/', from)}/`))
      throw new FileError('EINVAL', 'rename', to);
    if (target?.kind === 'directory') {
      if (node.kind !== 'directory') throw new FileError('EISDIR', 'rename', to);
      if (target.entries.size > 0) throw new FileError('ENOTEMPTY', 'rename', to);
    } else if (target !== undefined && node.kind === 'directory') throw new FileError('ENOTDIR', 'rename', to);
    const added = this.set(to, node, 'rename');
    this.set(from, undefined, 'rename', added);
  }

  sync(folder: FolderNode): void {
    const pending = new Set(this.#changes);
    for (const change of this.#changes) {
      if (change.folder !== folder || (change.after !== undefined && pending.has(change.after))) continue;
      apply(change, folder.durable);
      for (const earlier of pending) {
        if (earlier.folder === folder && earlier.name === change.name) pending.delete(earlier);
        if (earlier === change) break;
      }
    }
    this.#changes = [...pending];
  }

  paths(): string[] {
    const found: string[] = [];
    const visit = (folder: FolderNode, prefix: string): void => {
      for (const [name, node] of folder.entries) {
        found.push(node.kind === 'directory' ? `${prefix}${name}/` : `${prefix}${name}`);
        if (node.kind === 'directory') visit(node, `${prefix}${name}/`);
      }
    };
    visit(this.#root, '/');
    return found.sort();
  }

  crashed(outcome: CrashOutcome): NameTree {
    const names = new Map<FolderNode, Map<string, Node>>();
    const namesOfFolder = (folder: FolderNode): Map<string, Node> => {
      const known = names.get(folder) ?? new Map(folder.durable);
      names.set(folder, known);
      return known;
    };
    const lost = new Set<NameChange>();
    for (const change of this.#changes) {
      // Within one folder a rename is atomic: the old name goes if and only if the new one came.
      const survives =
        change.after === undefined
          ? outcome.name?.(change.path) === true
          : !lost.has(change.after) && (change.after.folder === change.folder || outcome.name?.(change.path) === true);
      if (survives) apply(change, namesOfFolder(change.folder));
      else lost.add(change);
    }
    const copies = new Map<Node, Node>();
    const copy = (node: Node, path: string): Node => {
      const known = copies.get(node);
      if (known !== undefined) return known;
      if (node.kind === 'file') {
        const file = node.crashed((unsynced) => outcome.bytes?.(path, unsynced));
        copies.set(node, file);
        return file;
      }
      const folder = newFolder();
      copies.set(node, folder);
      for (const [name, child] of namesOfFolder(node)) {
        const copied = copy(child, posix.join(path, name));
        folder.entries.set(name, copied);
        folder.durable.set(name, copied);
      }
      return folder;
    };
    return new NameTree(copy(this.#root, '/') as FolderNode);
  }

  copied(): NameTree {
    const copies = new Map<Node, Node>();
    const copy = (node: Node): Node => {
      const known = copies.get(node);
      if (known !== undefined) return known;
      if (node.kind === 'file') {
        const file = node.copied();
        copies.set(node, file);
        return file;
      }
      const folder = newFolder();
      copies.set(node, folder);
      for (const [name, child] of node.entries) folder.entries.set(name, copy(child));
      for (const [name, child] of node.durable) folder.durable.set(name, copy(child));
      return folder;
    };
    const root = copy(this.#root) as FolderNode;
    const moved = new Map<NameChange, NameChange>();
    for (const change of this.#changes) {
      moved.set(change, {
        ...change,
        folder: copy(change.folder) as FolderNode,
        node: change.node === undefined ? undefined : copy(change.node),
        // A change that `after` names and that is durable already is not in the list any more.
        after: change.after === undefined ? undefined : moved.get(change.after),
      });
    }
    return new NameTree(root, [...moved.values()]);
  }
}

function apply(change: NameChange, names: Map<string, Node>): void {
  if (change.node === undefined) names.delete(change.name);
  else names.set(change.name, change.node);
}

function namesOf(path: string): string[] {
  return posix
    .resolve('/', path)
    .split('/')
    .filter((name) => name !== '');
}
