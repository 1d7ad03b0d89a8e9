import { register } from 'node:module';
import { MUTANTS } from './mutants.js';

// Imports nothing of weir before the hooks are in place.
const [name, seeds] = process.argv.slice(2);
const mutant = MUTANTS.find((one) => one.name === name);
if (mutant === undefined) throw new Error(`There is no mutant '${String(name)}'.`);
register('./mutation-hooks.js', { parentURL: import.meta.url, data: mutant });
const { firstFailure } = await import('./first-failure.js');
// Not undefined, which cannot be sent: that no seed finds the mutant is an answer, too.
process.send?.({ found: await firstFailure(Number(seeds)) });
process.disconnect();
