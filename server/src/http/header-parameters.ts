import { takesKey } from './idempotency-key.ts'
import type { Operation } from './operation.ts'

/** Not as a `format`: a generated client in Python would then send an object as the header, and fail. */
const uuid = { type: 'string', pattern: '^[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$' }

/** The document calls it required wherever a header may hold the credential: that is every operation but a few. */
function tenantParameter({ tenantHeader }: Operation) {
  const required = tenantHeader !== 'optional'
  const description = `the tenant of the credential${required ? '; optional with the cookie of a session' : ''}`
  return { name: 'X-Tenant-ID', in: 'header', required, schema: uuid, description }
}
const keyParameter = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  schema: { type: 'string', pattern: '^[!-~]{1,255}$' },
  description: 'for 24 hours, only the first call with this key is carried out; the others get its answer',
}
const keyOfSessionParameter = {
  ...keyParameter,
  description: `${keyParameter.description}. The key belongs to the session: after a new sign-in it is another one`,
}
const ifMatchParameter = {
  name: 'If-Match',
  in: 'header',
  required: false,
  schema: { type: 'string' },
  description: 'the `ETag` that the record must still have, in its quotes; several are separated by commas; `*`: any',
}
function lastEventIdParameter({ sealsEventIds }: Operation) {
  return {
    name: 'Last-Event-ID',
    in: 'header',
    required: false,
    schema: sealsEventIds ? { type: 'string' } : uuid,
    description: 'the last `id` that the client received: what came after it is sent first',
  }
}

/** The headers that an operation reads beside the credential, as parameters of the OpenAPI document. */
export function headerParameters(operation: Operation) {
  return [
    ...(operation.credential === 'none' ? [] : [tenantParameter(operation)]),
    ...(takesKey(operation) ? [operation.keyOfSession ? keyOfSessionParameter : keyParameter] : []),
    ...(operation.takesIfMatch ? [ifMatchParameter] : []),
    ...(operation.streams === 'text/event-stream' ? [lastEventIdParameter(operation)] : []),
  ]
}
