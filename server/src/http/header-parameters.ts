import { takesKey } from './idempotency-key.ts'
import type { Operation } from './operation.ts'

const tenantParameter = {
  name: 'X-Tenant-ID',
  in: 'header',
  required: true,
  schema: { type: 'string', format: 'uuid' },
  description: 'the tenant of the credential',
}
const keyParameter = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  schema: { type: 'string', pattern: '^[!-~]{1,255}$' },
  description: 'makes all calls with it, for 24 hours, one: the first is carried out, the others get its answer',
}
const ifMatchParameter = {
  name: 'If-Match',
  in: 'header',
  required: false,
  schema: { type: 'string' },
  description: 'the `ETag` that the record must still have',
}
const lastEventIdParameter = {
  name: 'Last-Event-ID',
  in: 'header',
  required: false,
  schema: { type: 'string', format: 'uuid' },
  description: 'the last `id` that came: what came after it is sent first',
}

/** The headers beside the credential that an operation minds, as the OpenAPI document has them. */
export function headerParameters(operation: Operation) {
  return [
    ...(operation.credential === 'none' ? [] : [tenantParameter]),
    ...(takesKey(operation) ? [keyParameter] : []),
    ...(operation.takesIfMatch ? [ifMatchParameter] : []),
    ...(operation.streams === 'text/event-stream' ? [lastEventIdParameter] : []),
  ]
}
