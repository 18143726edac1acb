/** What came back: an empty body reads as an empty object. */
export type Reply<Body> = { status: number; headers: Headers; body: Body }

/** The error object, for `call<Refusal>`. */
export type Refusal = {
  code: string
  message: string
  details?: Record<string, unknown>
  notices?: string[]
}

export type Page<Item> = { data: Item[]; next_cursor?: string; has_more: boolean }

/** One call, sent with the client's own headers and those given; a header of `undefined` is left out. */
export type Client = <Body = Record<string, unknown>>(
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  path: string,
  body?: unknown,
  headers?: Record<string, string | undefined>,
) => Promise<Reply<Body>>

/** A client of the service at `base_url` that sends these headers with each call. */
export function clientAt(base_url: string, own: Record<string, string>): Client {
  return async <Body>(method: string, path: string, body?: unknown, more: Record<string, string | undefined> = {}) => {
    const sent = { ...own, ...(body !== undefined && { 'content-type': 'application/json' }), ...more }
    const reply = await fetch(base_url + path, {
      method,
      headers: Object.entries(sent).filter((header): header is [string, string] => header[1] !== undefined),
      signal: AbortSignal.timeout(20_000),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await reply.text()
    return { status: reply.status, headers: reply.headers, body: (text === '' ? {} : JSON.parse(text)) as Body }
  }
}
