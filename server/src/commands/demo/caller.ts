/** An answer that is not what the story tells. */
export class Untold extends Error {}

/** Nobody answers at the address: a server that is not there, or went away. */
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
  /** Answers the body. @throws Untold when the status is another one */
  ask<Reply>(status: number, method: Method, path: string, body?: unknown): Promise<Reply>
  /** Answers the error object. @throws Untold when it is granted, or refused for another reason */
  refused(status: number, code: string, method: Method, path: string, body?: unknown): Promise<Refusal>
}

/** A call that takes longer has failed. */
const maxCallMs = 10_000

/** A caller at `base_url` who sends these headers with each call. */
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
        throw new Unreachable(`nobody answers at ${base_url} (${causeOf(error)})`)
      })
    return { status, body: readJson(text) }
  }

  return {
    async ask<Reply>(status: number, method: Method, path: string, body?: unknown) {
      const answer = await call(method, path, body)
      if (answer.status !== status) throw new Untold(inWords(method, path, answer, `${status}`))
      return answer.body as Reply
    },
    async refused(status, code, method, path, body) {
      const answer = await call(method, path, body)
      const refusal = answer.body as Refusal
      if (answer.status !== status || refusal.code !== code) {
        throw new Untold(inWords(method, path, answer, `${status} \`${code}\``))
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

function inWords(method: Method, path: string, answer: { status: number; body: unknown }, expected: string): string {
  const { code, message } = answer.body as Partial<Refusal>
  const said = code === undefined ? '' : ` \`${code}\`: ${message}`
  return `${method} ${path} answered ${answer.status}${said}; it should be ${expected}`
}

function causeOf(error: unknown): string {
  const { cause, message } = error as Error
  return cause instanceof Error && cause.message !== '' ? cause.message : message
}
