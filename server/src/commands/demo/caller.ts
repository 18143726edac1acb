/** An answer or state that differs from the expected one. */
export class Unexpected extends Error {}

/** No server answers at the address. */
export class Unreachable extends Error {}

/** The error object of a refusal. */
export type Refusal = {
  code: string
  message: string
  details?: Record<string, unknown>
  notices?: string[]
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** Calls the service with one credential. */
export type Caller = {
  /** Returns the body. @throws Unexpected if the status differs */
  ask<Reply>(status: number, method: Method, path: string, body?: unknown): Promise<Reply>
  /** Returns the error object. @throws Unexpected if the call succeeds, or is refused for another reason */
  refused(status: number, code: string, method: Method, path: string, body?: unknown): Promise<Refusal>
}

/** A call that takes longer fails. */
const maxCallMs = 10_000

/** A caller of `base_url` that sends these headers with each call. */
export function callerAt(base_url: string, headers: Record<string, string>): Caller {
  const call = async (method: Method, path: string, body: unknown) => {
    const sent = {
      method,
      headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
      signal: AbortSignal.timeout(maxCallMs),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }
    const { status, text } = await fetch(base_url + path, sent)
      .then(async (reply) => ({ status: reply.status, text: await reply.text() }))
      .catch((error: unknown) => {
        throw new Unreachable(`no server answers at ${base_url} (${causeOf(error)})`)
      })
    return { status, body: readJson(text) }
  }

  return {
    async ask<Reply>(status: number, method: Method, path: string, body?: unknown) {
      const answer = await call(method, path, body)
      if (answer.status !== status) throw new Unexpected(describeAnswer(method, path, answer, `${status}`))
      return answer.body as Reply
    },
    async refused(status, code, method, path, body) {
      const answer = await call(method, path, body)
      const refusal = answer.body as Refusal
      if (answer.status !== status || refusal.code !== code) {
        throw new Unexpected(describeAnswer(method, path, answer, `${status} \`${code}\``))
      }
      return refusal
    },
  }
}

function readJson(text: string): unknown {
  if (text === '') return {}
  try {
    return JSON.parse(text) as unknown
  } catch {
    return { message: text.slice(0, 200) }
  }
}

function describeAnswer(
  method: Method,
  path: string,
  answer: { status: number; body: unknown },
  expected: string,
): string {
  const { code, message } = answer.body as Partial<Refusal>
  const reason = code === undefined ? '' : ` \`${code}\`: ${message}`
  return `${method} ${path} answered ${answer.status}${reason}; expected ${expected}`
}

function causeOf(error: unknown): string {
  const { cause, message } = error as Error
  return cause instanceof Error && cause.message !== '' ? cause.message : message
}
