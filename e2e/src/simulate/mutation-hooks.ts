import type { InitializeHook, LoadHook } from 'node:module';
import { mutate, type Mutant } from './mutant.js';

// Hooks of Node's module loader: they run in a thread of their own, in a process that serves one mutant.

let mutant: Mutant | undefined;

export const initialize: InitializeHook<Mutant> = (data) => {
  mutant = data;
};

export const load: LoadHook = async (url, context, nextLoad) => {
  const loaded = await nextLoad(url, context);
  if (mutant === undefined || !isIts(url, mutant)) return loaded;
  const source = typeof loaded.source === 'string' ? loaded.source : new TextDecoder().decode(loaded.source);
  return { ...loaded, source: mutate(source, mutant) };
};

function isIts(url: string, { file }: Mutant): boolean {
  const slash = file.indexOf('/');
  return url.endsWith(`/packages/${file.slice(0, slash)}/dist${file.slice(slash)}.js`);
}
