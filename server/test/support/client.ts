import { operations } from '../../src/operations.ts'
import { answersAsDescribed } from './described.ts'
import { formOf, formType } from './form.ts'

const { requireDescribed, operationOf } = answersAsDescribed(operations)

/** A response. An empty body is read as an empty object, lines (NDJSON) as an array, plain text as a string. */
export type Reply<Body> = { status: number; headers: Headers; body: Body }

/** The error object, for `call<Refusal>`. */
export type Refusal = {
  code: string
  message: string
  details?: Record<string, unknown>
  notices?: string[]
}

export type Page<Item> = { data: Item[]; next_cursor?: string; has_more: boolean }

/** One call, sent with the client's own headers and the given ones; a header of `undefined` is omitted. */
export type Client = <Body = Record<string, unknown>>(
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  path: string,
  body?: unknown,
  headers?: Record<string, string | undefined>,
) => Promise<Reply<Body>>

/**
 * A client of the service at `base_url` that sends these headers with each call. It follows no redirect, and throws if an
 * answer does not match openapi.json.
 */
export function clientAt(base_url: string, own: Record<string, string>): Client {
  return async <Body>(method: string, path: string, body?: unknown, more: Record<string, string | undefined> = {}) => {
    const isForm = operationOf(method, path)?.bodyType === 'form'
    const type = isForm ? formType : 'application/json'
    const sent = { ...own, ...(body !== undefined && { 'content-type': type }), ...more }
    const reply = await fetch(base_url + path, {
      method,
      redirect: 'manual',
      headers: Object.entries(sent).filter((header): header is [string, string] => header[1] !== undefined),
      signal: AbortSignal.timeout(60_000),
      ...(body !== undefined && { body: textOf(body, sent['content-type']) }),
    })
    const text = await reply.text()
    requireDescribed(method, path, { status: reply.status, text, headers: Object.fromEntries(reply.headers) })
    return { status: reply.status, headers: reply.headers, body: read(reply.headers, text) as Body }
  }
}

function textOf(body: unknown, type: string | undefined): string {
  if (type === 'text/plain') return String(body)
  return type === formType ? formOf(body as object) : JSON.stringify(body)
}

function read(headers: Headers, text: string): unknown {
  if (/^text\/(?:plain|csv)/.test(headers.get('content-type') ?? '')) return text
  if (headers.get('content-type')?.startsWith('application/x-ndjson') !== true)
    return text === '' ? {} : JSON.parse(text)
  return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
}
