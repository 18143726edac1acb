import pg from 'pg'
import { TargetError } from '../driver.ts'

const maxMessageLength = 300

/** The server's message as one line of bounded length. */
function lineOf(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim()
  return line.length > maxMessageLength ? `${line.slice(0, maxMessageLength)}…` : line
}

/** Errors about this specific grant: permanent. */
const refusals: Readonly<Record<string, string>> = {
  '42501': 'the role that Sallyport signs in as has no permission for this; the guide lists the rights it needs',
  '42704': 'a required role does not exist',
  '0LP01': 'the server refused this grant',
  '2BP01': 'other roles hold grants that depend on it: revoke those first',
  '42601': 'the server does not know the statement; it must be PostgreSQL 15 or later',
}

/**
 * Errors about the connection to the server, including a wrong password. An administrator can fix them while a grant waits, so
 * they are transient.
 */
const hints: Readonly<Record<string, string>> = {
  '28P01': 'the server refused the user and the password of the provisioner',
  '28000': 'the server does not let the user of the provisioner connect',
  '3D000': 'the server has no such database',
  '53300': 'the server has no free connection',
  '55P03': 'another session on the server holds a lock for too long',
  '57014': 'the server took too long',
  '25006': 'the server is a standby, which accepts no changes',
}

/** What the client says of a server that refuses to begin with TLS. */
const noTls = 'The server does not support SSL connections'

/** An error of the connection to the server. */
export function asConnectionError(error: unknown, server: string): TargetError {
  if (error instanceof TargetError) return error
  const message = lineOf(error instanceof Error ? error.message : String(error))
  if (!(error instanceof pg.DatabaseError) || error.code === undefined) {
    const why = message === noTls ? `it does not speak TLS, and \`tls\` is not \`off\` (${message})` : message
    return new TargetError('transient', `${server} cannot be reached: ${why || 'it does not answer'}`)
  }
  const hint = hints[error.code]
  return new TargetError(
    'transient',
    hint === undefined ? `${server} says: ${message}` : `${hint} (${server} says: ${message})`,
  )
}

/** The error of a statement. */
export function asStatementError(error: unknown, server: string): TargetError {
  const refusal = error instanceof pg.DatabaseError && error.code !== undefined ? refusals[error.code] : undefined
  if (refusal === undefined) return asConnectionError(error, server)
  return new TargetError('permanent', `${refusal} (${server} says: ${lineOf((error as Error).message)})`)
}
