import { fileURLToPath } from 'node:url';
import { WeirError } from '../errors.js';

/** Two characters or more: `C:` is a drive. A colon without a slash may be part of a name. */
const SCHEME = /^(?<scheme>[a-z][a-z\d+.-]+):\//i;

/**
 * The path that a user means: what is given, or what a `file:` URL says. CONFIG_INVALID for any other scheme, which would become a folder of that
 * name, for a `file:` URL that names another host or leads nowhere, and for `(none)`. `what` names the option.
 */
export function localPath(given: string, what: string): string {
  if (given.trim() === '(none)') throw refused(what, given, 'which means no folder: leave it out instead');
  if (/^file:/i.test(given)) return ofFileUrl(given, what);
  const scheme = SCHEME.exec(given)?.groups?.['scheme'];
  if (scheme === undefined) return given;
  const advice = 'give a path or a file: URL, for instance of a folder where that storage is mounted';
  throw refused(what, given, `and nothing here serves '${scheme}:': ${advice}`);
}

function ofFileUrl(given: string, what: string): string {
  const form = 'write file:///absolute/path';
  if (!/^file:\//i.test(given))
    throw refused(what, given, `a URL without an absolute path: ${form}, or the path alone`);
  let url: URL;
  let path: string;
  try {
    url = new URL(given);
    if (url.host !== '') throw refused(what, given, `a file of host '${url.host}', which is not this one: ${form}`);
    path = fileURLToPath(url);
  } catch (cause) {
    if (cause instanceof WeirError) throw cause;
    throw refused(what, given, `no file: URL that leads to a path: ${form}`, cause);
  }
  if (url.search !== '' || url.hash !== '')
    throw refused(what, given, 'with a ? or # that is no part of a path: write %3F or %23');
  return path;
}

function refused(what: string, given: string, why: string, cause?: unknown): WeirError {
  return new WeirError('CONFIG_INVALID', `${what} is ${JSON.stringify(given)}, ${why}.`, { cause });
}
