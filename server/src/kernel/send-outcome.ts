/** The outcome of an attempt to send a message. `why` and `said` may be stored and shown: one line, without secrets. */
export type SendOutcome =
  | { kind: 'delivered'; said: string | null }
  /** Permanent failure: no automatic retry. */
  | { kind: 'refused'; why: string }
  /**
   * Temporary failure. `holds_up`: only this message, or all messages to this recipient, in their order behind it.
   * `after_ms`: the wait that the receiver requested, at most an hour.
   */
  | { kind: 'try_again'; why: string; holds_up: 'this' | 'all'; after_ms?: number }
  /** The receiver is permanently gone: its channel is switched off. */
  | { kind: 'gone'; why: string }

/** An attempt that threw. */
export const failedHere = {
  kind: 'try_again',
  holds_up: 'this',
  why: 'the service failed to send it; its log says why',
} as const satisfies SendOutcome
