import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { assignmentHandlers } from './assignments.ts'
import type { Entry } from './call-log.ts'
import { type Cloud, newRequestId, settle } from './cloud.ts'
import { databaseHandlers } from './databases.ts'
import { directoryHandlers } from './directory.ts'
import { errorOf, type openMisdeeds } from './misdeeds.ts'
import { checkInput, noOperation } from './model.ts'
import { organizationHandlers } from './organization.ts'
import { permissionSetHandlers } from './permission-sets.ts'
import { setContentHandlers } from './set-contents.ts'
import { shellHandlers } from './shells.ts'
import { verifySignature } from './signature.ts'
import { tokenHandlers } from './tokens.ts'
import {
  type Answer,
  AwsError,
  answerOf,
  answerOfError,
  type Call,
  type Caller,
  type Handlers,
  readBody,
  readInput,
  readTarget,
  type ServiceName,
  send,
  serviceOfForm,
  takesForms,
} from './wire.ts'

export type Misdeeds = ReturnType<typeof openMisdeeds>

/** Serves over HTTP on a free port of 127.0.0.1; returns the origin and a function that closes it. */
export async function serveAws(cloud: Cloud, misdeeds: Misdeeds): Promise<{ origin: string; close(): Promise<void> }> {
  const handlers: Readonly<Record<ServiceName, Handlers>> = {
    sso: {
      ...permissionSetHandlers(cloud),
      ...setContentHandlers(cloud),
      ...assignmentHandlers(cloud, misdeeds.fateOf),
    },
    identitystore: directoryHandlers(cloud),
    organizations: organizationHandlers(cloud),
    ssm: shellHandlers(cloud),
    rds: databaseHandlers(cloud),
    sts: tokenHandlers(cloud),
  }
  const throttle = openThrottle(cloud)
  const server = createServer(
    (request, reply) => void serveOne({ cloud, misdeeds, handlers, throttle }, request, reply),
  )
  server.keepAliveTimeout = 60_000
  await new Promise<void>((done) => {
    server.listen(0, '127.0.0.1', done)
  })
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}

type Serving = {
  cloud: Cloud
  misdeeds: Misdeeds
  handlers: Readonly<Record<ServiceName, Handlers>>
  throttle: (service: ServiceName) => void
}

async function serveOne(serving: Serving, request: IncomingMessage, reply: ServerResponse): Promise<void> {
  const { cloud, misdeeds } = serving
  const body = await readBody(request)
  if (body === undefined) return
  const entry: Entry = {
    at: performance.now(),
    service: null,
    operation: '',
    input: {},
    by: null,
    outcome: 'not answered',
    request_id: newRequestId(),
  }
  cloud.log.entries.push(entry)
  const protocol = request.headers['x-amz-target'] === undefined ? serviceOfForm(body) : 'json'
  const refusal = (error: unknown): Answer => {
    const known = error instanceof AwsError ? error : new AwsError('InternalFailure', String(error), { status: 500 })
    entry.outcome = known.name
    return answerOfError(known, protocol, entry.request_id)
  }
  try {
    const call = admit(serving, request, body, entry)
    const misdeed = misdeeds.ofCall(call)
    if (misdeed !== undefined && 'error' in misdeed) throw errorOf(misdeed)
    if (misdeed !== undefined && 'hang' in misdeed) return
    if (misdeed !== undefined && 'delay_ms' in misdeed) await pause(misdeed.delay_ms)
    const cut = misdeed !== undefined && 'cut' in misdeed ? misdeed.cut : undefined
    const answer = cut === 'before' ? undefined : perform(serving, call, entry, refusal)
    if (cut !== undefined) entry.outcome = `cut ${cut}`
    if (answer === undefined || cut === 'after') request.socket.destroy()
    else send(reply, answer, cut === 'half' ? answer.body.length / 2 : undefined)
  } catch (error) {
    send(reply, refusal(error))
  }
}

/** Checks a call: its signature, the rate limit, the caller's permissions, and the model. */
function admit({ cloud, handlers, throttle }: Serving, request: IncomingMessage, body: Buffer, entry: Entry): Call {
  const { service, operation } = readTarget(request, body)
  Object.assign(entry, { service, operation })
  const { caller, region } = verifySignature(request, body, { service, region: regionOf(cloud, service) }, cloud.keys)
  entry.by = caller.arn
  throttle(service)
  const input = readInput(request, body)
  entry.input = input
  if (handlers[service][operation] === undefined) throw noOperation(service, operation)
  checkInput(service, operation, input)
  authorize(service, operation, caller)
  if (operation === 'CreatePermissionSet' && input.Tags !== undefined) authorize(service, 'TagResource', caller)
  return { service, region, operation, input, caller, request_id: entry.request_id }
}

function perform({ cloud, handlers }: Serving, call: Call, entry: Entry, refusal: (error: unknown) => Answer): Answer {
  settle(cloud)
  if (call.service === 'sso' && call.operation.startsWith('List')) cloud.lists++
  try {
    const answer = answerOf(call, handlers[call.service][call.operation]?.(call.input as never, call) ?? {})
    entry.outcome = 'ok'
    return answer
  } catch (error) {
    return refusal(error)
  }
}

/** Organizations is in us-east-1 for all regions, machines and databases are in every region, the rest is in the instance's region. */
function regionOf({ region }: Cloud, service: ServiceName): string | null {
  if (service === 'ssm' || service === 'rds') return null
  return service === 'organizations' ? 'us-east-1' : region
}

/** @throws AwsError if the caller's policy does not name the action; STS checks the role's own policy */
function authorize(service: ServiceName, operation: string, { arn, actions }: Caller): void {
  const action = `${service}:${operation}`
  if (actions === null || service === 'sts') return
  const named = actions.some((one) => new RegExp(`^${one.replaceAll('*', '.*')}$`, 'i').test(action))
  if (!named)
    throw new AwsError(
      takesForms(service) ? 'AccessDenied' : 'AccessDeniedException',
      `User: ${arn} is not authorized to perform: ${action} because no identity-based policy allows the ${action} action`,
      { status: takesForms(service) ? 403 : 400 },
    )
}

/** A limit of calls within one second, for each service; refused calls do not count. */
function openThrottle({ settings }: Cloud): (service: ServiceName) => void {
  const taken = new Map<ServiceName, number[]>()
  return (service) => {
    const now = performance.now()
    const recent = (taken.get(service) ?? []).filter((at) => now - at < 1000)
    if (recent.length >= settings.rate) throw tooMany(service)
    taken.set(service, [...recent, now])
  }
}

function tooMany(service: ServiceName): AwsError {
  if (service === 'organizations')
    return new AwsError('TooManyRequestsException', 'AWS Organizations can not complete your request: rate exceeded')
  return new AwsError(takesForms(service) ? 'Throttling' : 'ThrottlingException', 'Rate exceeded')
}
