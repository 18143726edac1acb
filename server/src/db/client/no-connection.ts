/** No connection is available, whatever the reason: its cause has the code of the server or of the socket, if there is one. */
export class NoConnection extends Error {
  /** That of a connection that cannot be established. */
  readonly code = '08001'

  /** Nothing was sent yet, so every reason for which a connection does not open means: later. */
  static from(cause: unknown): unknown {
    if (!(cause instanceof Error) || cause instanceof NoConnection) return cause
    // The log adds the message of the cause. An error for several addresses at once has none of its own.
    const code = cause.message === '' ? ` (${String((cause as { code?: unknown }).code ?? cause.name)})` : ''
    return new NoConnection(`no connection to the database${code}`, { cause })
  }
}
