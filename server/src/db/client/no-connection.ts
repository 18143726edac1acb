/** No connection is free; the code is the one of a server that takes no more of them. */
export class NoConnection extends Error {
  readonly code = '53300'
}
