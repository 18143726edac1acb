import { type ErrorCode, Problem } from '../../kernel/errors.ts'

/** A role was deleted while it was given, or given while it was deleted. */
const roleMoved = {
  code: 'version_conflict',
  message: 'a role was given or deleted by somebody else meanwhile; read it again',
} as const

/**
 * The database is the last guard: what its named constraints refuse becomes the caller's error.
 * A constraint that is not listed here is never met by a caller; if it is, that is our fault: 500.
 */
const constraintErrors: Record<string, { code: ErrorCode; message: string }> = {
  tenant_user_email_key_uq: { code: 'user_exists', message: 'a user with this e-mail address exists already' },
  tenant_user_deleted: { code: 'not_found', message: 'user not found' },
  role_system_fixed: { code: 'forbidden', message: 'a system role cannot be changed; make a role of your own' },
  user_role_role_id_fk: roleMoved,
  group_role_role_id_fk: roleMoved,
  group_member_group_id_fk: { code: 'not_found', message: 'group or user not found' },
  group_member_user_id_fk: { code: 'not_found', message: 'group or user not found' },
  group_role_group_id_fk: { code: 'not_found', message: 'group not found' },
  api_key_identity_provider_id_fk: {
    code: 'unprocessable',
    message: '`identity_provider_id` names no identity provider; GET /v1/identity-providers lists them',
  },
  served_resource_pk: {
    code: 'resource_already_served',
    message: 'another provisioner serves one of these since a moment ago; GET /v1/provisioners says which',
  },
  policy_rule_policy_id_fk: { code: 'not_found', message: 'policy not found' },
}

const textsTheDatabaseCannotKeep = new Set(['22021', '22P05'])

/**
 * Connection lost, server going down or starting up, too many connections, a timeout of ours, a deadlock, a statement that
 * must be prepared anew: try again later.
 */
function meansUnavailable(error: DatabaseError): boolean {
  const code = error.code ?? ''
  return (
    /^(08|53|57P0)/.test(code) ||
    ['55P03', '57014', '40P01', '25006', 'ECONNREFUSED', 'ECONNRESET', 'ENOENT', 'EPIPE', 'ETIMEDOUT'].includes(code) ||
    mustBePreparedAgain(error) ||
    /connection terminated|timeout expired/i.test(error.message)
  )
}

/** A prepared statement is gone (DISCARD ALL, a pooler), or a table has changed under its plan. */
export function mustBePreparedAgain({ code, message }: DatabaseError): boolean {
  return code === '26000' || (code === '0A000' && message.includes('cached plan'))
}

/**
 * Whether a statement failed for what it met, rather than for want of a database: of many rows that failed together one
 * may be to blame, such as one that somebody holds locked.
 */
export function isRowsOwnFault(error: unknown): boolean {
  if (!(error instanceof Problem) || error.code !== 'unavailable') return true
  return error.cause instanceof Error && ['55P03', '40P01'].includes((error.cause as DatabaseError).code ?? '')
}

type DatabaseError = Error & { code?: string | undefined; constraint?: string | undefined }

/** Throws what the caller should see for what the driver threw; the original stays as its cause. */
export function translateDatabaseError(thrown: unknown): never {
  if (!(thrown instanceof Error) || thrown instanceof Problem) throw thrown
  // Where the socket was read tells nobody anything; who asked does.
  Error.captureStackTrace(thrown, translateDatabaseError)
  const error: DatabaseError = thrown
  const known = error.constraint === undefined ? undefined : constraintErrors[error.constraint]
  const problem = known !== undefined ? new Problem(known.code, known.message) : problemByCode(error)
  if (problem === undefined) throw error
  problem.cause = error
  throw problem
}

function problemByCode(error: DatabaseError): Problem | undefined {
  if (textsTheDatabaseCannotKeep.has(error.code ?? '')) {
    return new Problem(
      'invalid_input',
      'the text holds characters that cannot be kept; leave out NUL and lone surrogates',
    )
  }
  if (meansUnavailable(error)) {
    return new Problem('unavailable', 'the database does not answer just now; try again in a moment')
  }
  return undefined
}
