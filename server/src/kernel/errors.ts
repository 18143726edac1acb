/**
 * Every error that a caller can receive: its code, its HTTP status and what it means.
 * The one table: the OpenAPI document, the reference page and the tests are generated from it.
 */
export const errorTable = {
  ambiguous_credentials: { status: 400, means: 'the request carries two credentials, or a credential header twice' },
  invalid_input: {
    status: 400,
    means: 'the request is malformed or fails validation; `details.fields` names each faulty field',
  },
  invalid_policy: { status: 400, means: 'the policy statement is invalid; `details` gives line, column and help' },
  unauthenticated: { status: 401, means: 'the credential is missing or invalid' },
  second_factor_required: {
    status: 401,
    means: 'the password is right, and the sign-in needs a second factor; `details` says how to go on',
  },
  invalid_authorization_code: {
    status: 401,
    means: 'the authorization code or its sign-in is invalid or expired; every cause has the same answer',
  },
  forbidden: { status: 403, means: 'the credential does not permit this' },
  sign_in_again: {
    status: 403,
    means: 'this needs a more recent sign-in: `details.max_age` says within how many seconds',
  },
  tenant_mismatch: { status: 403, means: '`X-Tenant-ID` is not the tenant of the credential' },
  tenant_suspended: { status: 403, means: 'the credential is valid, and the operator suspended its tenant' },
  policy_denied: { status: 403, means: 'no policy rule permits this, or a rule forbids it; `notices` says why' },
  not_found: { status: 404, means: 'the addressed record does not exist' },
  method_not_allowed: {
    status: 405,
    means: 'the path does not support this method; `Allow` lists the methods that it supports',
  },
  already_extended: { status: 409, means: 'another request extends the grant; `details.request_id` says which' },
  already_joined: { status: 409, means: 'the user can sign in already, so an invitation has no use' },
  already_member: { status: 409, means: 'the user is already a member of the group' },
  case_broken: {
    status: 409,
    means:
      'the change would break a required policy case; `details.cases` lists each case, its expected and its new result',
  },
  channel_disabled: { status: 409, means: 'the notification channel is disabled' },
  delivery_pending: { status: 409, means: 'the delivery or the test message is already under way' },
  idempotency_in_progress: { status: 409, means: 'the first call with this `Idempotency-Key` is still running' },
  last_owner: { status: 409, means: 'the tenant would be left without an owner' },
  request_not_cancellable: { status: 409, means: 'the request cannot be cancelled in its current state' },
  not_in_rehearsal: { status: 409, means: 'the tenant is live: its rehearsal is over' },
  priority_taken: { status: 409, means: 'another policy has this priority' },
  provisioner_in_use: { status: 409, means: 'access that the provisioner gave would be left at its target' },
  orphan_not_endable: {
    status: 409,
    means: 'it is not proven that this installation gave the access, or a grant wants it, so Sallyport does not end it',
  },
  resource_already_served: { status: 409, means: 'another provisioner serves the type of resource in that account' },
  role_in_use: { status: 409, means: 'users have the role, or groups give it' },
  replay_in_progress: { status: 409, means: 'the tenant already has a replay under way; only one runs at a time' },
  sync_in_progress: { status: 409, means: 'a run of the directory is under way; `details.run_id` says which' },
  request_not_pending: { status: 409, means: 'the request is not pending' },
  grant_not_retryable: { status: 409, means: 'the grant did not fail, or its deadline to begin has passed' },
  credentials_not_available: {
    status: 409,
    means: 'the grant is not given yet, or its target has no password that Sallyport sets',
  },
  grant_not_live: { status: 409, means: 'the grant has already ended' },
  too_early_to_extend: {
    status: 409,
    means: 'less than half of the time of the grant is used; `details.extendable_from` says when it is',
  },
  user_exists: { status: 409, means: 'a user with this e-mail address already exists' },
  version_conflict: { status: 409, means: 'the record was changed by another call; read it again' },
  precondition_failed: { status: 412, means: 'the record does not match `If-Match`; read it again' },
  payload_too_large: { status: 413, means: 'the body is larger than the endpoint accepts' },
  unsupported_media_type: { status: 415, means: 'the endpoint does not accept this content type' },
  misdirected_request: {
    status: 421,
    means:
      'a browser’s session is used, or wanted, at an address that is not the service’s own, or neither https nor loopback',
  },
  unprocessable: {
    status: 422,
    means: 'the input is well-formed but names something that does not exist or is not allowed',
  },
  idempotency_key_reused: { status: 422, means: 'this `Idempotency-Key` was used with another body' },
  rate_limited: { status: 429, means: 'too many requests; `Retry-After` says when to try again' },
  headers_too_large: {
    status: 431,
    means: 'the path and the headers are larger than 16 KiB; the answer comes before any endpoint is known',
  },
  internal: { status: 500, means: 'the service failed; its log has the cause under the request id' },
  unavailable: { status: 503, means: 'the service cannot answer now; `Retry-After` says when to try again' },
} as const satisfies Record<string, { status: number; means: string }>

export type ErrorCode = keyof typeof errorTable

export type ProblemExtras = {
  /** Additional context for the caller; never a secret. */
  details?: Record<string, unknown>
  /** Policy notices from the rules that decided. */
  notices?: string[]
}

/** An error meant for the caller: thrown anywhere, returned as the API's error object. */
export class Problem extends Error {
  readonly code: ErrorCode
  readonly details: Record<string, unknown> | undefined
  readonly notices: string[] | undefined
  /** Whether the audit log has an entry of this refusal, or of similar ones. */
  isRecorded = false

  constructor(code: ErrorCode, message: string, extras: ProblemExtras = {}) {
    super(message)
    this.name = 'Problem'
    this.code = code
    this.details = extras.details
    this.notices = extras.notices
  }

  get status(): number {
    return errorTable[this.code].status
  }
}

/** Whether this refuses what the caller's rights, or the age of their sign-in, do not permit: such a refusal is kept in the audit log. */
export function refusesRights(thrown: unknown): thrown is Problem {
  return thrown instanceof Problem && (thrown.code === 'forbidden' || thrown.code === 'sign_in_again')
}

/** One faulty field of a request: `pointer` is a JSON pointer into the body, or the parameter's name. */
export type FaultyField = { pointer: string; why: string }

/** 400 `invalid_input` naming each faulty field. */
export const invalidInput = (fields: FaultyField[]) => faultyFields('invalid_input', fields)

/** 422 `unprocessable` naming each field that is valid, and names what does not exist here. */
export const unknownReferences = (fields: FaultyField[]) => faultyFields('unprocessable', fields)

function faultyFields(code: 'invalid_input' | 'unprocessable', fields: FaultyField[]): Problem {
  const [first] = fields
  const message = first === undefined ? 'the request is not valid' : `\`${first.pointer || '/'}\` ${first.why}`
  return new Problem(code, message, { details: { fields } })
}

/** 404 `not_found`: the same for a record that never existed and for another tenant's. */
export function notFound(noun: string): Problem {
  return new Problem('not_found', `${noun} not found`)
}

/** 403 `tenant_suspended`. INVARIANT: only for a caller whose credential was verified; a stranger learns nothing. */
export function tenantSuspended(): Problem {
  return new Problem('tenant_suspended', 'the operator suspended this tenant; ask the operator')
}
