import { type ErrorCode, Problem } from '../../kernel/errors.ts'

/** A role was deleted while another call assigned it, or the other way round. */
const roleMoved = {
  code: 'version_conflict',
  message: 'another call assigned or deleted a role at the same time; read it again',
} as const

/** Two calls of one directory made or renamed the same user or group. */
const directoryMoved = {
  code: 'version_conflict',
  message: 'another call of the directory wrote this user or group at the same time; read it again',
} as const

const servedMeanwhile = {
  code: 'resource_already_served',
  message: 'another provisioner now serves one of these resources; GET /v1/provisioners lists which',
} as const

/**
 * The database is the last guard: a refusal by one of its named constraints becomes the caller's error.
 * No caller should ever violate a constraint that is not listed here; if one does, it is our fault: 500.
 */
const constraintErrors: Record<string, { code: ErrorCode; message: string }> = {
  tenant_user_email_key_uq: { code: 'user_exists', message: 'a user with this e-mail address already exists' },
  tenant_user_deleted: { code: 'not_found', message: 'user not found' },
  role_system_fixed: { code: 'forbidden', message: 'a system role cannot be changed; create a role of your own' },
  role_name_system_ck: { code: 'forbidden', message: 'a system role has this name; choose another name' },
  user_role_role_id_fk: roleMoved,
  group_role_role_id_fk: roleMoved,
  group_member_group_id_fk: { code: 'not_found', message: 'group or user not found' },
  group_member_user_id_fk: { code: 'not_found', message: 'group or user not found' },
  group_role_group_id_fk: { code: 'not_found', message: 'group not found' },
  api_key_identity_provider_id_fk: {
    code: 'unprocessable',
    message: '`identity_provider_id` names no identity provider; GET /v1/identity-providers lists them',
  },
  served_resource_pk: servedMeanwhile,
  served_id_pk: servedMeanwhile,
  second_factor_tenant_id_credential_id_uq: {
    code: 'unprocessable',
    message: 'this passkey is set up already; make another one',
  },
  rehearsal_lets_nobody_in: {
    code: 'forbidden',
    message: 'a person of the rehearsal has no way to sign in, and gets none; an owner gets tokens for them',
  },
  tenant_user_rehearsal_ck: {
    code: 'forbidden',
    message: 'a person of the rehearsal keeps their address, and never owns the tenant or signs in with a provider',
  },
  directory_user_pk: directoryMoved,
  directory_user_user_name_key_uq: directoryMoved,
  directory_user_external_id_uq: directoryMoved,
  directory_group_external_id_uq: directoryMoved,
  directory_group_display_name_uq: directoryMoved,
  sign_in_setting_identity_provider_id_fk: {
    code: 'unprocessable',
    message: '`identity_provider_id` names no identity provider; GET /v1/identity-providers lists them',
  },
  tenant_slug_uq: { code: 'unprocessable', message: 'another tenant has this slug; choose another one' },
  // The service no longer sees the tenant: who still comes through had a credential of it.
  event_has_its_tenant: { code: 'tenant_suspended', message: 'the operator suspended this tenant; ask the operator' },
  policy_rule_policy_id_fk: { code: 'not_found', message: 'policy not found' },
}

const textsTheDatabaseCannotKeep = new Set(['22021', '22P05'])

/**
 * No connection for whatever reason, refused credentials among them; connection lost; server going down or starting up, or without
 * resources such as room on its disk; a server that only reads; a timeout of ours; a deadlock; a statement that must be prepared again:
 * retry later.
 */
function meansUnavailable(error: DatabaseError): boolean {
  const code = error.code ?? ''
  return (
    /^(?:08|28|3D|53|57P0|58|25006|25P0[34])/.test(code) ||
    ['55P03', '57014', '40P01', 'ECONNREFUSED', 'ECONNRESET', 'ENOENT', 'EPIPE', 'ETIMEDOUT'].includes(code) ||
    mustBePreparedAgain(error) ||
    /connection terminated|timeout expired/i.test(error.message)
  )
}

/** A prepared statement is gone (DISCARD ALL, a pooler), or a table has changed under its plan. */
export function mustBePreparedAgain({ code, message }: DatabaseError): boolean {
  return code === '26000' || (code === '0A000' && message.includes('cached plan'))
}

/**
 * Whether the rows of a statement made it fail, rather than an unavailable database. Of many rows that failed together, one may
 * be the cause, such as a row that another transaction has locked.
 */
export function isRowsOwnFault(error: unknown): boolean {
  if (!(error instanceof Problem) || error.code !== 'unavailable') return true
  return error.cause instanceof Error && ['55P03', '40P01'].includes((error.cause as DatabaseError).code ?? '')
}

type DatabaseError = Error & { code?: string | undefined; constraint?: string | undefined }

/** Throws the caller's error for an error of the driver; the original becomes its cause. */
export function translateDatabaseError(thrown: unknown): never {
  if (!(thrown instanceof Error) || thrown instanceof Problem) throw thrown
  // The stack of the socket read helps nobody; the stack of the caller does.
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
    return new Problem('invalid_input', 'the text has characters that cannot be stored; remove NUL and lone surrogates')
  }
  if (meansUnavailable(error)) {
    return new Problem('unavailable', 'the database cannot be used now; try again in a moment')
  }
  return undefined
}
