/** No connection is available, whatever the reason: its cause has the code of the server or of the socket, if there is one. */
export class NoConnection extends Error {
  /** That of a connection that cannot be established. */
  readonly code = '08001'

  /** Nothing was sent yet, so every reason for which a connection does not open means: later. */
  static from(cause: unknown): unknown {
    if (!(cause instanceof Error) || cause instanceof NoConnection) return cause
    return new NoConnection(`no connection to the database: ${cause.message || codeOf(cause)}`, { cause })
  }
}

/** An error for several addresses at once has no message of its own. */
function codeOf(error: Error): string {
  return String((error as { code?: unknown }).code ?? error.name)
}
