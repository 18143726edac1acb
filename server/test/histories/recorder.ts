import { actionsByMode } from '../kill/company.ts'
import { newAccount } from '../kill/sandbox-field.ts'
import type { Answer, Call, Operation } from './history.ts'

/** A caller, and the headers of their credential. */
export type Person = { id: string; name: string; headers: Record<string, string> }

export type Recorder = {
  /** Makes a call at a process, and records it; undefined: it was not sent, because nothing listens there. */
  call(caller: Person, process: number, call: Call): Promise<Operation | undefined>
  /** From now on the program changes nothing by itself, so what callers see can be compared. */
  setupIsOver(): void
}

/** A frozen process or database answers later than this, or not at all. */
const answerWithinMs = 60_000

/** `address`: of the process of that number, which changes with each start. Each operation is added to `operations`. */
export function openRecorder(address: (process: number) => string, operations: Operation[]): Recorder {
  let isSetup = true
  return {
    setupIsOver: () => {
      isSetup = false
    },
    async call({ id, name, headers }, process, call) {
      const request = requestOf(call)
      const url = address(process) + request.path
      const began = performance.now()
      const answer = await send(url, headers, request)
      const ended = performance.now()
      if (answer === 'not sent') return undefined
      const says = answer !== undefined && answer.status < 500
      const operation = {
        ...{ nth: operations.length, caller: { id, name }, process, began, call, answer, isSetup },
        ended: says ? ended : Number.POSITIVE_INFINITY,
      }
      operations.push(operation)
      return operation
    },
  }
}

type HttpRequest = { method: string; path: string; body?: object }

function requestOf(call: Call): HttpRequest {
  const status = 'status' in call && call.status !== null ? `&status=${call.status}` : ''
  const id = 'request' in call ? call.request : 'grant' in call ? call.grant : ''
  const requests: Record<Call['name'], () => HttpRequest> = {
    create: () => ({ method: 'POST', path: '/v1/requests', body: bodyOf(call) }),
    approve: () => ({ method: 'POST', path: `/v1/requests/${id}/approve`, body: bodyOf(call) }),
    deny: () => ({ method: 'POST', path: `/v1/requests/${id}/deny`, body: {} }),
    cancel: () => ({ method: 'DELETE', path: `/v1/requests/${id}` }),
    extend: () => ({
      method: 'POST',
      path: `/v1/grants/${id}/extend`,
      body: { duration_seconds: 3_600, reason: 'more' },
    }),
    revoke: () => ({ method: 'POST', path: `/v1/grants/${id}/revoke`, body: {} }),
    retry: () => ({ method: 'POST', path: `/v1/grants/${id}/retry`, body: {} }),
    'read request': () => ({ method: 'GET', path: `/v1/requests/${id}` }),
    'read status': () => ({ method: 'GET', path: `/v1/access/requests/${id}` }),
    'read grant': () => ({ method: 'GET', path: `/v1/grants/${id}` }),
    'list its grants': () => ({ method: 'GET', path: `/v1/grants?limit=100&request_id=${id}` }),
    'read its events': () => ({ method: 'GET', path: `/v1/audit-events?limit=100&subject=${id}` }),
    'read grant events': () => ({ method: 'GET', path: `/v1/audit-events?limit=100&subject=${id}` }),
    'list own grants': () => ({ method: 'GET', path: `/v1/grants?limit=100${status}` }),
    'list own requests': () => ({ method: 'GET', path: `/v1/requests?limit=100${status}` }),
  }
  return requests[call.name]()
}

function bodyOf(call: Call): object {
  if (call.name === 'approve') return call.seconds === null ? {} : { duration_seconds: call.seconds }
  if (call.name !== 'create') return {}
  const resource = { type: 'cloud_account', id: newAccount() }
  return { resource, action: actionsByMode[call.mode], duration_seconds: 3_600, reason: 'a look' }
}

/** Undefined: the connection broke, or no answer came in time. */
async function send(
  url: string,
  headers: Record<string, string>,
  { method, body }: HttpRequest,
): Promise<Answer | 'not sent' | undefined> {
  try {
    const reply = await fetch(url, {
      method,
      headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
      signal: AbortSignal.timeout(answerWithinMs),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await reply.text()
    const read = text === '' ? {} : (JSON.parse(text) as Record<string, unknown>)
    return { status: reply.status, body: read, tag: reply.headers.get('etag') }
  } catch (error) {
    return isRefused(error) ? 'not sent' : undefined
  }
}

function isRefused(error: unknown): boolean {
  return ((error as Error).cause as { code?: string } | undefined)?.code === 'ECONNREFUSED'
}
