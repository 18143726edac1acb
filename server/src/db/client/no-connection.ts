/** No connection is to be had; the code is the one of a server that takes no more of them. */
export class NoConnection extends Error {
  readonly code = '53300'

  /** `pg` gives its own errors about connecting no code, and only a text: a timeout, a connection that ended early. */
  static from(cause: unknown): unknown {
    if (!(cause instanceof Error) || 'code' in cause) return cause
    return new NoConnection(`no connection to the database: ${cause.message}`, { cause })
  }
}
