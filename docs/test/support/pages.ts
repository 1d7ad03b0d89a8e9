import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** The repository. */
export const ROOT: string = path.resolve(import.meta.dirname, '../../..');

export function textOf(file: string): string {
  return readFileSync(path.join(ROOT, file), 'utf8');
}
export function exists(file: string): boolean {
  return existsSync(path.join(ROOT, file));
}

/** Every file below a folder, relative to the root, without those of packages and builds. */
export function filesBelow(folder: string): string[] {
  return readdirSync(path.join(ROOT, folder), { withFileTypes: true })
    .flatMap((entry) => {
      const name = path.posix.join(folder, entry.name);
      if (!entry.isDirectory()) return [name];
      return ['node_modules', 'dist', 'build', 'coverage', '.nx', '.git'].includes(entry.name) ? [] : filesBelow(name);
    })
    .sort();
}

/** Every page that a reader may open: Markdown anywhere but what the release tool writes and reads. */
export const PAGES: readonly string[] = filesBelow('.').filter(
  (file) => file.endsWith('.md') && !file.startsWith('.changeset/') && path.basename(file) !== 'CHANGELOG.md',
);

/** A page without fenced code. */
export function proseOf(page: string): string {
  return page.replace(/^( *)```[^]*?^\1```$/gm, '');
}
