import { type ErrorCode, errorTable } from '../kernel/errors.ts'
import { takesCredential } from './admission.ts'
import { takesKey } from './idempotency-key.ts'
import { type Json, limitHeaders, referTo, requestIdHeader } from './openapi-headers.ts'
import type { Operation } from './operation.ts'

/** What the operations of a document share, by its name. */
export type Shared = { schemas: Json; responses: Json }

/** The name of a status, and the codes that nearly every operation with it can answer: they are not part of a name. */
const statuses: Readonly<Record<number, { name: string; usual: readonly ErrorCode[] }>> = {
  400: { name: 'BadRequest', usual: ['ambiguous_credentials', 'invalid_input'] },
  401: { name: 'Unauthenticated', usual: ['unauthenticated'] },
  403: { name: 'Forbidden', usual: ['forbidden', 'sign_in_again', 'tenant_mismatch', 'tenant_suspended'] },
  409: { name: 'Conflict', usual: ['idempotency_in_progress'] },
  422: { name: 'IdempotencyKeyReused', usual: ['idempotency_key_reused'] },
}

/** Every error code that an operation can answer: its own, and those of the pipeline. */
export function errorsOf(operation: Operation): ErrorCode[] {
  const codes = new Set<ErrorCode>(operation.errors)
  codes.add('internal').add('unavailable')
  if (operation.credential !== 'none') codes.add('invalid_input').add('ambiguous_credentials')
  if (takesCredential(operation.credential)) {
    codes.add('unauthenticated').add('tenant_mismatch').add('tenant_suspended')
    codes.add('rate_limited').add('misdirected_request')
    if (!operation.allowsOneFactor) codes.add('sign_in_again')
    // By cookie, a request from another site is refused.
    codes.add('forbidden')
  }
  if (operation.limitedBy !== undefined) codes.add('rate_limited')
  if (takesKey(operation)) codes.add('idempotency_in_progress').add('idempotency_key_reused')
  if (operation.takesIfMatch) codes.add('precondition_failed')
  if (operation.scope !== null) codes.add('forbidden')
  if (operation.params !== undefined) codes.add('not_found')
  if (operation.query !== undefined || operation.body !== undefined) codes.add('invalid_input')
  if (operation.body !== undefined) codes.add('payload_too_large').add('unsupported_media_type')
  return [...codes]
}

/** The answers with these codes, by status. Operations that can answer the same codes share one response. */
export function describeErrors(codes: readonly ErrorCode[], shared: Shared): Record<string, Json> {
  const byStatus = Map.groupBy([...codes].sort(), (code) => errorTable[code].status)
  return Object.fromEntries(Array.from(byStatus, ([status, these]) => [status, shareResponse(status, these, shared)]))
}

function shareResponse(status: number, codes: readonly ErrorCode[], { schemas, responses }: Shared): Json {
  const name = nameOf(status, codes)
  // A named schema: some generators would otherwise make one for each operation.
  schemas[`${name}Error`] = {
    allOf: [{ $ref: '#/components/schemas/Error' }, { properties: { code: { type: 'string', enum: codes } } }],
  }
  responses[name] = {
    description: codes.map((code) => `\`${code}\`: ${errorTable[code].means}`).join('; '),
    headers: errorHeadersOf(status, codes),
    content: { 'application/json': { schema: { $ref: `#/components/schemas/${name}Error` } } },
  }
  return { $ref: `#/components/responses/${name}` }
}

/** The codes as words, so that a name means the same codes in every version. `Only`: without some of the usual ones. */
function nameOf(status: number, codes: readonly ErrorCode[]): string {
  const { name, usual } = statuses[status] ?? { name: '', usual: [] }
  const own = codes.filter((code) => !usual.includes(code))
  if (codes.length - own.length < usual.length) return `Only${inWords(codes)}`
  return own.length === 0 ? name : inWords(own)
}

function inWords(codes: readonly ErrorCode[]): string {
  return codes.map((code) => code.replaceAll(/(?:^|_)(\w)/g, (_all, letter) => letter.toUpperCase())).join('Or')
}

function errorHeadersOf(status: number, codes: readonly ErrorCode[]): Json {
  if (status === 429) return { ...requestIdHeader, ...referTo('Retry-After'), ...limitHeaders }
  const mayWait = status === 503 || codes.includes('idempotency_in_progress')
  return mayWait ? { ...requestIdHeader, ...referTo('Retry-After') } : requestIdHeader
}
