import pg from 'pg'
import { TargetError } from '../driver.ts'

const maxMessageLength = 300

/** What a server's words look like in an error of ours: one line, of a bounded length. */
function inWords(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim()
  return line.length > maxMessageLength ? `${line.slice(0, maxMessageLength)}…` : line
}

/** Answers that say something of this very grant: they do not pass by themselves. */
const refusals: Readonly<Record<string, string>> = {
  '42501': 'the role that Sallyport signs in as may not do it; the guide lists the rights it needs',
  '42704': 'a role that is needed is not there',
  '0LP01': 'the server does not take this grant',
  '2BP01': 'others hold what was passed on from it: take that away first',
  '42601': 'the server does not know the statement: it must be PostgreSQL 15 or later',
}

/**
 * Answers that say something of the way to the server, even of a wrong password: whoever sets it up can mend it while a grant waits,
 * so they are transient.
 */
const hints: Readonly<Record<string, string>> = {
  '28P01': 'the server does not take the user and the password of the provisioner',
  '28000': 'the server does not let the user of the provisioner in',
  '3D000': 'the server has no such database',
  '53300': 'the server has no connection free',
  '55P03': 'somebody at the server holds a lock for too long',
  '57014': 'the server took too long',
  '25006': 'the server is a standby, which takes no changes',
}

/** What went wrong on the way to the server. */
export function asConnectionError(error: unknown, server: string): TargetError {
  if (error instanceof TargetError) return error
  const words = inWords(error instanceof Error ? error.message : String(error))
  if (!(error instanceof pg.DatabaseError) || error.code === undefined) {
    return new TargetError('transient', `${server} cannot be reached: ${words || 'it does not answer'}`)
  }
  const hint = hints[error.code]
  return new TargetError(
    'transient',
    hint === undefined ? `${server} says: ${words}` : `${hint} (${server} says: ${words})`,
  )
}

/** What the server said to a statement, or went wrong meanwhile. */
export function asStatementError(error: unknown, server: string): TargetError {
  const refusal = error instanceof pg.DatabaseError && error.code !== undefined ? refusals[error.code] : undefined
  if (refusal === undefined) return asConnectionError(error, server)
  return new TargetError('permanent', `${refusal} (${server} says: ${inWords((error as Error).message)})`)
}
