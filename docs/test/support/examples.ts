import { exists, textOf } from './pages.js';

/** A block of code behind the comment that names the file it shows. */
const SHOWN = /^<!-- ((?:docs|examples)\/[\w/.-]+\.(?:ts|py)) -->\n\n```(ts|python)\n[^]*?^```$/gm;
/** Any block of TypeScript, JavaScript or Python. */
const CODE = /^ *```(?:ts|tsx|js|mjs|javascript|typescript|py|python)\b/gm;

/** The page with each block of code as its file is now. */
export function withExamples(page: string): string {
  return page.replace(SHOWN, (block, file: string, language: string) =>
    exists(file) ? `<!-- ${file} -->\n\n\`\`\`${language}\n${textOf(file)}\`\`\`` : block,
  );
}

/** Files that the page shows. */
export function examplesIn(page: string): string[] {
  return [...page.matchAll(SHOWN)].map(([, file]) => file ?? '');
}

/** Blocks of code that no file stands behind, so that nobody compiles or runs them. */
export function codeWithoutFile(page: string): number {
  return [...page.matchAll(CODE)].length - examplesIn(page).length;
}
