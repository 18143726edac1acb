import type { TSchema } from 'typebox'
import { type ErrorCode, errorTable } from '../kernel/errors.ts'
import type { CredentialKind } from './admission.ts'
import { ErrorObject } from './error-object.ts'
import { headerParameters } from './header-parameters.ts'
import { takesKey } from './idempotency-key.ts'
import type { Operation } from './operation.ts'
import { describeOutgoing, type Outgoing } from './outgoing.ts'
import { jsonSchemaOf } from './schema.ts'

type Json = { [name: string]: unknown }

/**
 * The OpenAPI 3.1 document of the operations, and of the messages sent to receivers. Schemas with a `title` become components
 * of that name. Every error that an operation can answer is listed under its status with its code.
 */
export function describeApi(
  operations: Record<string, Operation>,
  publicUrl: string,
  outgoing: Readonly<Record<string, Outgoing>> = {},
): Json {
  const components: Record<string, unknown> = {}
  hoist(ErrorObject, components)
  const paths: Record<string, Json> = { ...healthPaths }
  for (const [operationId, operation] of Object.entries(operations)) {
    paths[operation.path] = {
      ...paths[operation.path],
      [operation.method.toLowerCase()]: describeOperation(operationId, operation, components),
    }
  }
  const webhooks = describeOutgoing(outgoing, (schema) => hoist(schema, components))
  return {
    openapi: '3.1.0',
    info: {
      title: 'Sallyport',
      version: '1',
      summary:
        'Access to cloud resources: requested, decided by policy, granted for a limited time, and removed on time.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: publicUrl }],
    paths,
    webhooks,
    components: {
      schemas: Object.fromEntries(Object.entries(components).sort(([a], [b]) => (a < b ? -1 : 1))),
      headers: sharedHeaders,
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'the token from signing in' },
        api_key: {
          type: 'apiKey',
          in: 'header',
          name: 'X-API-Key',
          description: 'an API key, shown once when it is created',
        },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: '__Host-sallyport',
          description:
            'the session of a browser, from `POST /v1/auth/session`; over plain http on loopback the cookie is `sallyport-` and ' +
            'the port; a change needs `Sec-Fetch-Site: same-origin`, or the `Origin` of the service',
        },
      },
    },
  }
}

function describeOperation(operationId: string, operation: Operation, components: Record<string, unknown>): Json {
  const { reply, status } = operation
  const isEvents = operation.streams === 'text/event-stream'
  const type = operation.streams ?? 'application/json'
  const success =
    reply === null || status === 302
      ? {}
      : { content: { [type]: { schema: hoist(reply, components) }, ...(operation.replyText && plainText) } }
  const body = operation.body && {
    requestBody: {
      required: 'required' in operation.body,
      content: {
        [operation.bodyType === 'form' ? 'application/x-www-form-urlencoded' : 'application/json']: {
          schema: hoist(operation.body, components),
        },
        ...(operation.bodyText !== undefined && plainText),
      },
    },
  }
  return {
    operationId,
    summary: operation.summary,
    tags: [operation.path.match(/^\/v1\/([a-z-]+)/)?.[1] ?? 'auth'],
    ...(operation.scope !== null && { description: `Needs the scope \`${operation.scope}\`.` }),
    security: securityOf(operation),
    parameters: [
      ...headerParameters(operation),
      ...parametersIn('path', operation),
      ...parametersIn('query', operation),
    ],
    ...body,
    responses: {
      [status]: {
        description: isEvents ? eventsDescription : successDescriptions[status],
        headers: headersOf(operation),
        ...success,
      },
      ...describeErrors(operation),
    },
  }
}

/** Health checks for a supervisor and a load balancer. They are not operations, since they have no authenticated caller. */
const healthPaths = Object.fromEntries(
  [
    {
      path: '/livez',
      operationId: 'getLiveness',
      summary: 'Whether the process runs',
      status: 'alive',
      mayFail: false,
    },
    { path: '/readyz', operationId: 'getReadiness', summary: 'Whether it can serve', status: 'ready', mayFail: true },
  ].map(({ path, operationId, summary, status, mayFail }) => {
    const schema = { type: 'object', required: ['status'], properties: { status: { type: 'string', const: status } } }
    const error = { description: '`unavailable`', content: jsonOf({ $ref: '#/components/schemas/Error' }) }
    const responses = { 200: { description: 'OK', content: jsonOf(schema) }, ...(mayFail && { 503: error }) }
    return [path, { get: { operationId, summary, tags: ['health'], security: [], responses } }]
  }),
)

function jsonOf(schema: Json): Json {
  return { 'application/json': { schema } }
}

const plainText = { 'text/plain': { schema: { type: 'string' } } }
const successDescriptions = {
  200: 'OK',
  201: 'Created',
  202: 'Accepted: the work follows',
  204: 'Done; no body',
  302: 'Redirect to `Location`; no body',
}
const eventsDescription = 'A stream of events; this is the `data` of each'
const requestIdHeader = {
  'X-Request-Id': { schema: { type: 'string' }, description: 'the id of the request in the log' },
}
const redirectHeaders = {
  ...requestIdHeader,
  Location: { schema: { type: 'string' }, description: 'the address to go to' },
}

/** The rate limit headers follow draft-ietf-httpapi-ratelimit-headers. */
const sharedHeaders = {
  'RateLimit-Policy': {
    schema: { type: 'string' },
    description: 'the rate limit: `q` requests at once, refilled over `w` seconds',
  },
  RateLimit: { schema: { type: 'string' }, description: '`r` requests remain; the limit is full again in `t` seconds' },
  'Retry-After': { schema: { type: 'integer' }, description: 'seconds to wait before a retry' },
  ETag: { schema: { type: 'string' }, description: 'the state of the record, for `If-Match`' },
  Location: { schema: { type: 'string' }, description: 'the path at which the new record is read' },
  'Set-Cookie': {
    schema: { type: 'string' },
    description: 'a cookie of the sign-in or the session, where one changes',
  },
  'Idempotency-Replayed': {
    schema: { type: 'string', const: 'true' },
    description: 'present when this is the answer to an earlier call with the same `Idempotency-Key`',
  },
}
const limitHeaders = referTo('RateLimit-Policy', 'RateLimit')
const retryHeader = referTo('Retry-After')

function referTo(...names: (keyof typeof sharedHeaders)[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

function headersOf(operation: Operation): Json {
  const { status, credential, etag, location, setsCookie } = operation
  return {
    ...(status === 302 ? redirectHeaders : requestIdHeader),
    ...(takesCredential(credential) && limitHeaders),
    ...(etag !== undefined && referTo('ETag')),
    ...(location !== undefined && referTo('Location')),
    ...(setsCookie && referTo('Set-Cookie')),
    ...(takesKey(operation) && referTo('Idempotency-Replayed')),
  }
}

function errorHeadersOf(status: number, codes: readonly ErrorCode[]): Json {
  if (status === 429) return { ...requestIdHeader, ...retryHeader, ...limitHeaders }
  const mayWait = status === 503 || codes.includes('idempotency_in_progress')
  return mayWait ? { ...requestIdHeader, ...retryHeader } : requestIdHeader
}

function takesCredential(credential: CredentialKind): boolean {
  return credential !== 'none' && credential !== 'tenant'
}

function securityOf({ credential }: Operation): Json[] {
  if (!takesCredential(credential)) return []
  if (credential === 'token') return [{ token: [] }]
  return [{ token: [] }, { session: [] }, ...(credential === 'any' ? [{ api_key: [] }] : [])]
}

function parametersIn(place: 'path' | 'query', operation: Operation): Json[] {
  const declared = place === 'path' ? operation.params : operation.query
  const { properties = {}, required = [] } = declared === undefined ? {} : jsonSchemaOf(declared)
  return Object.entries(properties).map(([name, { description, ...property }]) => ({
    name,
    in: place,
    required: required.includes(name),
    schema: property,
    // `status=pending,approved`, as `readQuery` reads it.
    ...(property.type === 'array' && { style: 'form', explode: false }),
    ...(description !== undefined && { description }),
  }))
}

/** Every error code that an operation can answer: its own, and those of the pipeline. */
export function errorsOf(operation: Operation): ErrorCode[] {
  const codes = new Set<ErrorCode>(operation.errors)
  codes.add('internal').add('unavailable')
  if (operation.credential !== 'none') codes.add('invalid_input').add('ambiguous_credentials')
  if (takesCredential(operation.credential)) {
    codes.add('unauthenticated').add('tenant_mismatch').add('rate_limited').add('misdirected_request')
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

function describeErrors(operation: Operation): Record<string, Json> {
  const byStatus = Map.groupBy(errorsOf(operation).sort(), (code) => errorTable[code].status)
  const described: Record<string, Json> = {}
  for (const [status, codes] of byStatus) {
    described[status] = {
      description: codes.map((code) => `\`${code}\`: ${errorTable[code].means}`).join('; '),
      headers: errorHeadersOf(status, codes),
      content: {
        'application/json': {
          schema: { allOf: [{ $ref: '#/components/schemas/Error' }, { properties: { code: { enum: codes } } }] },
        },
      },
    }
  }
  return described
}

/** Replaces every schema that has a title with a reference to the component of that name. */
function hoist(schema: TSchema, components: Record<string, unknown>): unknown {
  const walk = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(walk)
    if (typeof node !== 'object' || node === null) return node
    const walked = Object.fromEntries(Object.entries(node).map(([name, value]) => [name, walk(value)]))
    const { title, ...rest } = walked
    if (typeof title !== 'string') return walked
    components[title] = rest
    return { $ref: `#/components/schemas/${title}` }
  }
  return walk(schema)
}
