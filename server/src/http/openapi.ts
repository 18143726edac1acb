import type { TSchema } from 'typebox'
import { readVersion } from '../config/version.ts'
import { takesCredential } from './admission.ts'
import { ErrorObject } from './error-object.ts'
import { headerParameters } from './header-parameters.ts'
import { takesKey } from './idempotency-key.ts'
import { describeErrors, errorsOf, type Shared } from './openapi-errors.ts'
import { type OperationExample, withExample } from './openapi-examples.ts'
import { type Json, limitHeaders, referTo, requestIdHeader, sharedHeaders } from './openapi-headers.ts'
import { declareTags } from './openapi-tags.ts'
import type { Operation } from './operation.ts'
import { describeOutgoing, type Outgoing } from './outgoing.ts'
import { asDocumented, jsonSchemaOf } from './schema.ts'

/**
 * The OpenAPI 3.1 document of the operations, and of the messages sent to receivers. Schemas with a `title` become components
 * of that name. Every error that an operation can answer is listed under its status with its code; operations share these answers.
 */
export function describeApi(
  operations: Record<string, Operation>,
  publicUrl: string,
  outgoing: Readonly<Record<string, Outgoing>> = {},
  examples: Readonly<Record<string, OperationExample>> = {},
): Json {
  const shared: Shared = { schemas: {}, responses: {} }
  hoist(ErrorObject, shared.schemas)
  const paths: Record<string, Json> = describeHealth(shared)
  const used = new Set(['health'])
  for (const [operationId, operation] of Object.entries(operations)) {
    paths[operation.path] = {
      ...paths[operation.path],
      [operation.method.toLowerCase()]: withExample(
        describeOperation(operationId, operation, shared),
        examples[operationId],
      ),
    }
    used.add(tagOf(operation))
  }
  const webhooks = describeOutgoing(outgoing, (schema) => hoist(schema, shared.schemas))
  return {
    openapi: '3.1.0',
    info: {
      title: 'Sallyport',
      version: readVersion().version,
      summary:
        'Access to cloud resources: requested, decided by policy, granted for a limited time, and removed on time.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: publicUrl }],
    tags: declareTags(used),
    paths,
    webhooks,
    components: {
      schemas: inOrder(shared.schemas),
      responses: inOrder(shared.responses),
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

function inOrder(named: Json): Json {
  return Object.fromEntries(Object.entries(named).sort(([a], [b]) => (a < b ? -1 : 1)))
}

function tagOf({ path }: Operation): string {
  return path.match(/^\/v1\/([a-z-]+)/)?.[1] ?? 'auth'
}

function describeOperation(operationId: string, operation: Operation, shared: Shared): Json {
  const { reply, status } = operation
  const type = operation.streams ?? 'application/json'
  const success =
    reply === null || status === 302
      ? {}
      : {
          content: { [type]: { schema: replySchema(operation, reply, shared) }, ...(operation.replyText && plainText) },
        }
  const body = operation.body && {
    requestBody: {
      required: 'required' in operation.body,
      content: {
        [operation.bodyType === 'form' ? 'application/x-www-form-urlencoded' : 'application/json']: {
          schema: hoist(operation.body, shared.schemas),
        },
      },
    },
  }
  return {
    operationId,
    summary: operation.summary,
    tags: [tagOf(operation)],
    ...descriptionOf(operation),
    security: securityOf(operation),
    parameters: [
      ...headerParameters(operation),
      ...parametersIn('path', operation),
      ...parametersIn('query', operation),
    ],
    ...body,
    responses: {
      [status]: {
        description:
          operation.streams === undefined ? successDescriptions[status] : streamDescriptions[operation.streams],
        headers: successHeadersOf(operation),
        ...success,
      },
      ...describeErrors(errorsOf(operation), shared),
    },
  }
}

/** Generators of clients leave out a body as text, or send it as JSON: so words say it, and the body as JSON is enough. */
function descriptionOf({ scope, bodyText }: Operation): { description?: string } {
  const sentences = [
    ...(scope === null ? [] : [`Needs the scope \`${scope}\`.`]),
    ...(bodyText === undefined ? [] : [`Also takes \`${bodyText}\` alone, as a body of the type \`text/plain\`.`]),
  ]
  return sentences.length === 0 ? {} : { description: sentences.join(' ') }
}

/** Health checks for a supervisor and a load balancer. They are not operations, since they have no authenticated caller. */
function describeHealth(shared: Shared): Record<string, Json> {
  const checks = [
    {
      path: '/livez',
      operationId: 'getLiveness',
      summary: 'Whether the process runs',
      status: 'alive',
      mayFail: false,
    },
    { path: '/readyz', operationId: 'getReadiness', summary: 'Whether it can serve', status: 'ready', mayFail: true },
  ]
  const described = checks.map(({ path, operationId, summary, status, mayFail }) => {
    const schema = { type: 'object', required: ['status'], properties: { status: { type: 'string', const: status } } }
    const ok = { description: 'OK', headers: requestIdHeader, content: { 'application/json': { schema } } }
    const responses = { 200: ok, ...describeErrors(mayFail ? ['unavailable'] : [], shared) }
    return [path, { get: { operationId, summary, tags: ['health'], security: [], responses } }]
  })
  return Object.fromEntries(described)
}

const plainText = { 'text/plain': { schema: { type: 'string' } } }
const successDescriptions = {
  200: 'OK',
  201: 'Created',
  202: 'Accepted: the work follows',
  204: 'Done; no body',
  302: 'Redirect to `Location`; no body',
}
const streamDescriptions = {
  'text/event-stream': 'A stream of events; the object is the `data` of each',
  'application/x-ndjson': 'Lines of JSON; the object is one of them',
  'text/csv': 'A table (RFC 4180) with the properties of the object as its columns; the object is one of its lines',
}

/** Generated clients read a stream as one text, or part by part: either is an answer of the schema. */
function replySchema({ streams }: Operation, reply: TSchema, shared: Shared): unknown {
  const schema = hoist(reply, shared.schemas)
  return streams === undefined ? schema : { anyOf: [schema, { type: 'string' }] }
}

const redirectHeaders = {
  ...requestIdHeader,
  Location: { schema: { type: 'string' }, description: 'the address to go to' },
}

const fileHeader = {
  'Content-Disposition': { schema: { type: 'string' }, description: 'the name under which a browser saves it' },
}

function successHeadersOf(operation: Operation): Json {
  const { status, credential, etag, location, setsCookie, fileName } = operation
  return {
    ...(status === 302 ? redirectHeaders : requestIdHeader),
    ...(takesCredential(credential) && limitHeaders),
    ...(etag !== undefined && referTo('ETag')),
    ...(location !== undefined && referTo('Location')),
    ...(setsCookie && referTo('Set-Cookie')),
    ...(fileName !== undefined && fileHeader),
    ...(takesKey(operation) && referTo('Idempotency-Replayed')),
  }
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
    schema: asDocumented(property),
    // `status=pending,approved`, as `readQuery` reads it.
    ...(property.type === 'array' && { style: 'form', explode: false }),
    ...(description !== undefined && { description }),
  }))
}

/** Replaces every schema that has a title with a reference to the component of that name. */
function hoist(schema: TSchema, components: Record<string, unknown>): unknown {
  const walk = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(walk)
    if (typeof node !== 'object' || node === null) return node
    const walked = Object.fromEntries(Object.entries(node).map(([name, value]) => [name, walk(value)]))
    const { title, ...rest }: Json = asDocumented(walked)
    if (typeof title !== 'string') return title === undefined ? rest : { ...rest, title }
    components[title] = rest
    return { $ref: `#/components/schemas/${title}` }
  }
  return walk(schema)
}
