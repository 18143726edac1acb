import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import type { TSchema } from 'typebox'
import { type ErrorCode, errorTable } from '../kernel/errors.ts'
import { headerParameters } from './header-parameters.ts'
import { takesKey } from './idempotency-key.ts'
import type { Operation } from './operation.ts'
import { describeOutgoing, type Outgoing } from './outgoing.ts'
import { jsonSchemaOf } from './schema.ts'

type Json = { [name: string]: unknown }

/**
 * The OpenAPI 3.1 document of the operations, and of what is sent to receivers. Schemas with a `title` become components of that name; every error that an
 * operation can answer stands under its status with its code.
 */
export function describeApi(
  operations: Record<string, Operation>,
  publicUrl: string,
  outgoing: Readonly<Record<string, Outgoing>> = {},
): Json {
  const components: Record<string, unknown> = { Error: errorSchema }
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
      summary: 'Access to cloud resources: asked for, decided by policy, given for a bounded time, taken away on time.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: publicUrl }],
    paths,
    webhooks,
    components: {
      schemas: Object.fromEntries(Object.entries(components).sort(([a], [b]) => (a < b ? -1 : 1))),
      headers: sharedHeaders,
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'the token of a sign-in' },
        api_key: {
          type: 'apiKey',
          in: 'header',
          name: 'X-API-Key',
          description: 'an API key, shown once when it is made',
        },
      },
    },
  }
}

const errorSchema = {
  type: 'object',
  required: ['code', 'message'],
  properties: {
    code: { type: 'string', enum: Object.keys(errorTable), description: 'for programs' },
    message: { type: 'string', description: 'for people' },
    details: { type: 'object', additionalProperties: true, description: 'more about it' },
    notices: {
      type: 'array',
      items: { type: 'string' },
      description: 'what the policy rules that decided have to say',
    },
  },
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
        'application/json': { schema: hoist(operation.body, components) },
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
        description: isEvents ? eventsWords : successWords[status],
        headers: headersOf(operation),
        ...success,
      },
      ...describeErrors(operation),
    },
  }
}

/** How a supervisor and a balancer see the process: no operations, since nobody in particular asks. */
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
const successWords = {
  200: 'OK',
  201: 'Created',
  202: 'Accepted: to be done',
  204: 'Done; no body',
  302: 'Go there; no body',
}
const eventsWords = 'Events as they come; this is the `data` of each'
const requestIdHeader = { 'X-Request-Id': { schema: { type: 'string' }, description: 'leads to the log' } }
const redirectHeaders = { ...requestIdHeader, Location: { schema: { type: 'string' }, description: 'where to go' } }

/** Among them how a credential stands with its limit, in the form of draft-ietf-httpapi-ratelimit-headers. */
const sharedHeaders = {
  'RateLimit-Policy': {
    schema: { type: 'string' },
    description: 'the limit: `q` at once, given back over `w` seconds',
  },
  RateLimit: { schema: { type: 'string' }, description: '`r` are left, all of them again in `t` seconds' },
  'Retry-After': { schema: { type: 'integer' }, description: 'seconds until it may be tried again' },
  ETag: { schema: { type: 'string' }, description: 'the state of the record, for `If-Match`' },
  'Idempotency-Replayed': {
    schema: { type: 'string', const: 'true' },
    description: 'there where this is the answer to an earlier call with the same `Idempotency-Key`',
  },
}
const limitHeaders = referTo('RateLimit-Policy', 'RateLimit')
const retryHeader = referTo('Retry-After')

function referTo(...names: (keyof typeof sharedHeaders)[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

function headersOf(operation: Operation): Json {
  const { status, credential, etag } = operation
  return {
    ...(status === 302 ? redirectHeaders : requestIdHeader),
    ...((credential === 'any' || credential === 'user') && limitHeaders),
    ...(etag !== undefined && referTo('ETag')),
    ...(takesKey(operation) && referTo('Idempotency-Replayed')),
  }
}

function errorHeadersOf(status: number, codes: readonly ErrorCode[]): Json {
  if (status === 429) return { ...requestIdHeader, ...retryHeader, ...limitHeaders }
  const mayWait = status === 503 || codes.includes('idempotency_in_progress')
  return mayWait ? { ...requestIdHeader, ...retryHeader } : requestIdHeader
}

function securityOf({ credential }: Operation): Json[] {
  if (credential === 'none' || credential === 'tenant') return []
  return credential === 'user' ? [{ token: [] }] : [{ token: [] }, { api_key: [] }]
}

function parametersIn(place: 'path' | 'query', operation: Operation): Json[] {
  const declared = place === 'path' ? operation.params : operation.query
  const { properties = {}, required = [] } = declared === undefined ? {} : jsonSchemaOf(declared)
  return Object.entries(properties).map(([name, { description, ...property }]) => ({
    name,
    in: place,
    required: required.includes(name),
    schema: property,
    ...(description !== undefined && { description }),
  }))
}

/** Every code that an operation can answer: its own, and those of the pipeline it stands behind. */
export function errorsOf(operation: Operation): ErrorCode[] {
  const codes = new Set<ErrorCode>(operation.errors)
  codes.add('internal').add('unavailable')
  if (operation.credential !== 'none') codes.add('invalid_input').add('ambiguous_credentials')
  if (operation.credential === 'any' || operation.credential === 'user') {
    codes.add('unauthenticated').add('tenant_mismatch').add('rate_limited')
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

/** Replaces every schema that has a title by a reference to the component of that name. */
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

/** `/openapi.json`, and a page to read it at `/docs`. */
export async function serveReference(server: FastifyInstance, document: Json): Promise<void> {
  await server.register(swagger, { mode: 'static', specification: { document: document as never } })
  await server.register(swaggerUi, {
    routePrefix: '/docs',
    theme: { title: 'Sallyport' },
    // Without the bar of the library's own, which offers to read other people's documents.
    uiConfig: { layout: 'BaseLayout' },
    staticCSP: true,
    // Over plain http on a name of one's own, the page would look for its files where nobody answers.
    transformStaticCSP: (header) => header.replace(/;?\s*upgrade-insecure-requests/, ''),
  })
  server.get('/openapi.json', async (_request, reply) => reply.send(document))
}
