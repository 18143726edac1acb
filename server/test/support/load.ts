import { Agent, request } from 'node:http'

/** The outcome of one call: its status and whether the connection was to be closed, or why there was no answer. */
export type Outcome =
  | { status: number; closes: boolean; retryAfter: string | undefined; body: string }
  | { failed: string }

/** A caller with one connection, which it keeps as long as possible. */
export function openCaller(headers: Record<string, string>) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const send = (url: string, method: string, body?: unknown) =>
    new Promise<Outcome>((resolve) => {
      const text = body === undefined ? undefined : JSON.stringify(body)
      const sent = request(url, {
        agent,
        method,
        headers: {
          ...headers,
          ...(text !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
        },
      })
      sent.on('error', (error: NodeJS.ErrnoException) => resolve({ failed: error.code ?? error.message }))
      sent.on('response', (reply) => {
        let answer = ''
        reply.setEncoding('utf8').on('data', (part: string) => {
          answer += part
        })
        reply.on('error', (error: NodeJS.ErrnoException) => resolve({ failed: error.code ?? error.message }))
        reply.on('end', () =>
          resolve({
            status: reply.statusCode ?? 0,
            closes: reply.headers.connection === 'close',
            retryAfter: reply.headers['retry-after'],
            body: answer,
          }),
        )
      })
      sent.end(text)
    })
  return { send, close: () => agent.destroy() }
}
