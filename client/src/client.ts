import createFetchClient, { type Client as FetchClient } from 'openapi-fetch'
import type { components, paths } from './api.ts'

/** The records of the API, by the names that the API document gives them. */
export type Schemas = components['schemas']

/** A client: `client.GET('/v1/requests/{id}', { params: { path: { id } } })`, with the types of the API document. */
export type Client = FetchClient<paths>

export type ClientOptions = {
  /** The address of the service, as in `https://sallyport.example.com`. */
  baseUrl: string
  /** Left out where a browser's session names the tenant. */
  tenantId?: string
  /** A credential: a token, or an API key. Left out in a browser that has a session. */
  token?: string
  apiKey?: string
  fetch?: (request: Request) => Promise<Response>
}

/** Makes a client. It sends each write with an `Idempotency-Key`, so that a browser or a proxy that repeats one has it done once. */
export function createClient({ baseUrl, tenantId, token, apiKey, fetch }: ClientOptions): Client {
  const headers = {
    ...(tenantId !== undefined && { 'X-Tenant-ID': tenantId }),
    ...(token !== undefined && { Authorization: `Bearer ${token}` }),
    ...(apiKey !== undefined && { 'X-API-Key': apiKey }),
  }
  const client = createFetchClient<paths>({
    ...{ baseUrl, headers, ...(fetch && { fetch }) },
    // Lists in a query are separated by commas.
    querySerializer: { array: { style: 'form', explode: false } },
  })
  client.use({
    onRequest({ request, schemaPath }) {
      const isWrite = request.method !== 'GET' && !schemaPath.startsWith('/v1/auth/')
      if (isWrite && !request.headers.has('Idempotency-Key'))
        request.headers.set('Idempotency-Key', crypto.randomUUID())
      return request
    },
  })
  return client
}

/** An answer that refuses: the error object of the service. `message` says what is wrong and what to do. */
export class Refusal extends Error {
  readonly status: number
  readonly code: Schemas['Error']['code']
  readonly details: Readonly<Record<string, unknown>>
  readonly notices: readonly string[]
  /** The id of the request in the log of the service. */
  readonly requestId: string | undefined
  /** When to try again, in seconds; undefined where the service says nothing of it. */
  readonly retryAfter: number | undefined

  constructor(response: Response, error: Schemas['Error']) {
    super(error.message)
    this.name = 'Refusal'
    this.status = response.status
    this.code = error.code
    this.details = error.details ?? {}
    this.notices = error.notices ?? []
    this.requestId = response.headers.get('X-Request-Id') ?? undefined
    const seconds = response.headers.get('Retry-After')
    this.retryAfter = seconds === null ? undefined : Number(seconds)
  }
}

/** The service did not answer, or something between gave an answer that is not its. */
export class Unreachable extends Error {
  constructor(cause: unknown) {
    super('the service does not answer', { cause })
    this.name = 'Unreachable'
  }
}

type Outcome<Data> = { data?: Data; error?: Schemas['Error']; response: Response }

/**
 * The body of a call's answer.
 * @throws Refusal for an error object, Unreachable without an answer of the service
 */
export async function answerOf<Data>(call: Promise<Outcome<Data>>): Promise<Data> {
  const { data, error, response } = await call.catch((cause: unknown) => {
    throw new Unreachable(cause)
  })
  if (response.ok) return data as Data
  if (typeof error?.code !== 'string') throw new Unreachable(`${response.status} without an error object`)
  throw new Refusal(response, error)
}
