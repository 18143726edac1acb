import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'

/** The services, by the name in their signatures. */
export type ServiceName = 'sso' | 'identitystore' | 'organizations' | 'ssm' | 'rds' | 'sts'

export type Fields = Record<string, unknown>

/** The caller who signed a call. `actions`: null for all; else the IAM actions, `sso:List*` and the like. */
/** `principal`: the ARN of the role, of a session of one. */
export type Caller = {
  arn: string
  account: string
  actions: readonly string[] | null
  chained: boolean
  principal?: string
}

/** One received call with a valid signature. */
export type Call = {
  service: ServiceName
  /** The region that it was signed for. */
  region: string
  operation: string
  input: Fields
  caller: Caller
  request_id: string
}

/** The functions of a service's operations; they throw `AwsError`. */
export type Handlers = Readonly<Record<string, (input: never, call: Call) => object>>

/** An error with the service's own error name. */
export class AwsError extends Error {
  readonly status: number
  readonly members: Fields

  constructor(name: string, message: string, { status = 400, ...members }: { status?: number } & Fields = {}) {
    super(message)
    this.name = name
    this.status = status
    this.members = members
  }
}

const targets: Readonly<Record<string, ServiceName>> = {
  SWBExternalService: 'sso',
  AWSIdentityStore: 'identitystore',
  AWSOrganizationsV20161128: 'organizations',
  AmazonSSM: 'ssm',
}

/** The services that take forms, and answer in XML. */
const forms = {
  sts: { version: '2011-06-15', namespace: 'https://sts.amazonaws.com/doc/2011-06-15/' },
  rds: { version: '2014-10-31', namespace: 'http://rds.amazonaws.com/doc/2014-10-31/' },
} as const

type FormService = keyof typeof forms

/** Whether the service takes forms, and so has the error names of that protocol. */
export const takesForms = (service: ServiceName): service is FormService => service in forms

/** The service and operation of a call: JSON 1.1 names its target in a header, a form in the body. */
export function readTarget(request: IncomingMessage, body: Buffer): { service: ServiceName; operation: string } {
  if (request.method !== 'POST' || request.url !== '/')
    throw new AwsError('UnknownOperationException', `there is no ${request.method} ${request.url}`, { status: 404 })
  const target = request.headers['x-amz-target']
  if (target === undefined) return { service: serviceOfForm(body), operation: formOf(body).get('Action') ?? '' }
  const [prefix = '', operation = '', ...more] = String(target).split('.')
  const service = targets[prefix]
  if (service === undefined || more.length > 0) throw new AwsError('UnknownOperationException', String(target))
  return { service, operation }
}

/** The input of the call. */
export function readInput(request: IncomingMessage, body: Buffer): Fields {
  const type = request.headers['content-type']
  if (request.headers['x-amz-target'] === undefined) {
    if (type?.startsWith('application/x-www-form-urlencoded') === true) return readForm(body)
    throw new AwsError('MissingAction', 'neither a target nor a form')
  }
  if (type === 'application/x-amz-json-1.1') return readJson(body)
  throw new AwsError('UnknownOperationException', 'the content type is application/x-amz-json-1.1', { status: 404 })
}

/** A form does not name its service, only the version of the API: every other address than this one belongs to one service. */
export const serviceOfForm = (body: Buffer): FormService =>
  formOf(body).get('Version') === forms.rds.version ? 'rds' : 'sts'

const formOf = (body: Buffer): URLSearchParams => new URLSearchParams(body.toString('utf8'))

function readJson(body: Buffer): Fields {
  try {
    const input: unknown = JSON.parse(body.toString('utf8'))
    if (typeof input === 'object' && input !== null && !Array.isArray(input)) return input as Fields
  } catch {
    // Handled below.
  }
  throw new AwsError('SerializationException', 'the body is not a JSON object')
}

function readForm(body: Buffer): Fields {
  const { Action: _, Version, ...input } = Object.fromEntries(formOf(body))
  const { version } = forms[serviceOfForm(body)]
  if (Version !== version) throw new AwsError('NoSuchVersion', `the version is ${version}`)
  return Object.fromEntries(
    Object.entries(input).map(([name, value]) => [name, numbers.has(name) ? Number(value) : value]),
  )
}

/** A form has text only. */
const numbers = new Set(['DurationSeconds', 'MaxRecords'])

/** The whole body; undefined if the caller disconnected before its end. */
export async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer)
  } catch {
    return undefined
  }
  return Buffer.concat(chunks)
}

/** An answer in the form that is sent. */
export type Answer = { status: number; type: string; body: string; request_id: string }

/** A successful answer, in the protocol of its service. */
export function answerOf({ service, operation, request_id }: Call, output: object): Answer {
  if (!takesForms(service))
    return { status: 200, type: 'application/x-amz-json-1.1', body: JSON.stringify(inSeconds(output)), request_id }
  const result = `<${operation}Result>${xmlOf(output)}</${operation}Result>`
  const meta = `<ResponseMetadata><RequestId>${request_id}</RequestId></ResponseMetadata>`
  const body = `<${operation}Response xmlns="${forms[service].namespace}">${result}${meta}</${operation}Response>`
  return { status: 200, type: 'text/xml', body, request_id }
}

/** An error, in the protocol that the caller used. */
export function answerOfError(
  error: AwsError,
  protocol: 'json' | FormService,
  request_id: string = randomUUID(),
): Answer {
  const { name, message, status, members } = error
  if (protocol === 'json') {
    const body = JSON.stringify(inSeconds({ __type: name, Message: message, message, ...members }))
    return { status, type: 'application/x-amz-json-1.1', body, request_id }
  }
  const fault = xmlOf({ Type: status < 500 ? 'Sender' : 'Receiver', Code: name, Message: message })
  const body = `<ErrorResponse xmlns="${forms[protocol].namespace}"><Error>${fault}</Error><RequestId>${request_id}</RequestId></ErrorResponse>`
  return { status, type: 'text/xml', body, request_id }
}

/** `upTo`: sends only this many characters of the body, and then closes the connection. */
export function send(reply: ServerResponse, { status, type, body, request_id }: Answer, upTo?: number): void {
  reply.writeHead(status, {
    'content-type': type,
    'content-length': Buffer.byteLength(body),
    'x-amzn-requestid': request_id,
  })
  if (upTo === undefined) reply.end(body)
  else reply.write(body.slice(0, upTo), () => reply.destroy())
}

/** The value with each date in the protocol's form: seconds since 1970. */
function inSeconds(value: unknown): unknown {
  if (value instanceof Date) return value.getTime() / 1000
  if (Array.isArray(value)) return value.map(inSeconds)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, inSeconds(inner)]))
}

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** An element for each member; for each entry of a list one of the same name. */
function xmlOf(value: unknown): string {
  if (value instanceof Date) return value.toISOString()
  if (typeof value !== 'object' || value === null) return String(value).replace(/[&<>"]/g, (one) => escapes[one] ?? one)
  return Object.entries(value)
    .filter(([, inner]) => inner !== undefined)
    .flatMap(([name, inner]) => [inner].flat().map((one) => `<${name}>${xmlOf(one)}</${name}>`))
    .join('')
}
