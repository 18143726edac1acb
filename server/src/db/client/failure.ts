/** What keeps a database from being used, as far as its errors tell. */
export type DatabaseFailure =
  | 'no_answer'
  | 'credentials'
  | 'no_database'
  | 'forbidden'
  | 'read_only'
  | 'disk_full'
  | 'no_more_connections'
  | 'starting'
  | 'other'

/** By SQLSTATE, or by the code of the socket. */
const byCode: readonly (readonly [RegExp, DatabaseFailure])[] = [
  [/^28/, 'credentials'],
  [/^3D000$/, 'no_database'],
  [/^42501$/, 'forbidden'],
  [/^25006$/, 'read_only'],
  [/^53100$/, 'disk_full'],
  [/^53300$/, 'no_more_connections'],
  [/^57P03$/, 'starting'],
  [/^(?:08|57P0)/, 'no_answer'],
  [/^(?:ECONNREFUSED|ECONNRESET|ECONNABORTED|EPIPE|ETIMEDOUT)$/, 'no_answer'],
  [/^(?:ENOENT|EACCES|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/, 'no_answer'],
]

/** `pg` gives some errors of its connections no code. */
const noAnswer = /connection terminated|timeout expired/i

/** The failure behind an error of the database or of its connection: that of the first cause, whatever wraps it. */
export function failureOf(error: unknown): DatabaseFailure {
  const code = firstCode(error)
  if (code === undefined) return error instanceof Error && noAnswer.test(error.message) ? 'no_answer' : 'other'
  return byCode.find(([pattern]) => pattern.test(code))?.[1] ?? 'other'
}

/** The code of the innermost error that has one. */
function firstCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  const { code } = error as { code?: unknown }
  return firstCode(error.cause) ?? (typeof code === 'string' ? code : undefined)
}
