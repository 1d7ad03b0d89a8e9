/** State that a capture refers to until it is written, because to encode it at once would take too long. */
export interface Hold {
  readonly isDone: boolean;
  /** Appends some more of its rows. */
  drain(): void;
  /** Lets go of the state. */
  drop(): void;
}
