import { WeirError, type SinkContext } from '@weir/core/contracts';

/** What the name of a finished file tells. */
export interface FileIdentity {
  readonly lineage: string;
  readonly uid: string;
  /** Of the attempt that wrote it: attempt numbers come again where a folder of checkpoints is put back from a backup. */
  readonly nonce: string;
}
/** The three names of one file in the course of its life. Only the last one has no leading dot: readers look at no other. */
export interface FileNames {
  /** While it is written. Of no use after the end of its attempt. */
  readonly inProgress: string;
  /** When a checkpoint may hold it. Never deleted: a restore may commit it at any time. */
  readonly pending: string;
  /** When it is committed. */
  readonly final: string;
}

/** Names of the files of one sink in one attempt: prefix-lineage.uid-attempt.nonce-subtask-sequence.extension. */
export class FileNaming {
  readonly #prefix: string;
  readonly #extension: string;
  readonly #context: SinkContext;
  readonly #nonce: string;

  constructor(prefix: string, extension: string, context: SinkContext, nonce: string) {
    this.#prefix = prefix;
    this.#extension = extension;
    this.#context = context;
    this.#nonce = nonce;
  }

  names(subtask: number, sequence: number): FileNames {
    const { job, lineage, uid, attempt } = this.#context;
    const number = String(sequence).padStart(6, '0');
    const writer = `${encodePart(lineage)}.${plain(uid)}-${String(attempt)}.${this.#nonce}-${String(subtask)}`;
    const final = `${this.#prefix}-${writer}-${number}.${this.#extension}`;
    const hidden = `.${final}.${withoutDot(job)}`;
    const names = { inProgress: `${hidden}.inprogress`, pending: `${hidden}.pending`, final };
    assertFits(names);
    return names;
  }

  /** Undefined: the name is none that a sink with this prefix gives to a finished file. */
  readFinal(name: string): FileIdentity | undefined {
    if (!name.startsWith(`${this.#prefix}-`)) return undefined;
    const match = /^([^.-]+)\.(.+)-\d+\.([a-z\d]+)-\d+-\d+\.[^/]+$/.exec(name.slice(this.#prefix.length + 1));
    return match === null ? undefined : { lineage: decode(match[1]!), uid: decode(match[2]!), nonce: match[3]! };
  }

  /** A file that an attempt of this sink in this job was writing, or had prepared. */
  readHidden(name: string): (FileIdentity & { readonly state: 'inprogress' | 'pending' }) | undefined {
    const match = /^\.(.+)\.([^.]+)\.(inprogress|pending)$/.exec(name);
    if (match === null) return undefined;
    const { job, uid } = this.#context;
    const identity = this.readFinal(match[1]!);
    if (decode(match[2]!) !== job || identity?.uid !== uid) return undefined;
    return { ...identity, state: match[3] as 'inprogress' | 'pending' };
  }

  isOfThisLineage({ lineage }: FileIdentity): boolean {
    return lineage === this.#context.lineage;
  }
}

// Each part of a name is spelled without the sign that ends it, so that it can be read back.
const plain = (text: string): string => encode(text, /[^A-Za-z0-9_.-]/gu);
/** A part of a name in letters, digits, `_` and `%`. */
export const encodePart = (text: string): string => encode(text, /[^A-Za-z0-9_]/gu);
const withoutDot = (text: string): string => encode(text, /[^A-Za-z0-9_-]/gu);

function encode(text: string, special: RegExp): string {
  return text.replace(special, (char) =>
    Array.from(Buffer.from(char), (byte) => '%' + byte.toString(16).padStart(2, '0').toUpperCase()).join(''),
  );
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // Somebody else's name with a percent sign in it.
    return text;
  }
}

/** Longest name that file systems take, in bytes. */
const LONGEST_NAME = 255;

/** What a note about a file has more in its name. */
const NOTE = 'lost-.0123456789.tmp'.length;

function assertFits({ inProgress: name, final }: FileNames): void {
  if (Math.max(name.length, final.length + NOTE) <= LONGEST_NAME) return;
  throw new WeirError(
    'CONFIG_INVALID',
    `The file name ${name} is longer than ${String(LONGEST_NAME)} bytes: give the job or the sink a shorter name.`,
    { recoverable: false },
  );
}
