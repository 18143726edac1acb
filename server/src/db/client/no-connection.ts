/** No connection is available. The code is that of a server that accepts no more connections. */
export class NoConnection extends Error {
  readonly code = '53300'

  /** `pg` gives its own connection errors no code, only a text: a timeout, a connection that ended early. */
  static from(cause: unknown): unknown {
    if (!(cause instanceof Error) || 'code' in cause) return cause
    return new NoConnection(`no connection to the database: ${cause.message}`, { cause })
  }
}
