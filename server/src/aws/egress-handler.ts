import type { Egress } from '../kernel/context.ts'

/** A signed request from the SDK. */
type SignedRequest = {
  protocol: string
  hostname: string
  port?: number
  path: string
  method: string
  headers: Record<string, string>
  body?: unknown
}

type Answered = { response: { statusCode: number; headers: Record<string, string>; body: Uint8Array } }

/** How long one HTTP call may take, from the name lookup to the last byte. */
const maxHttpMs = 10_000

/**
 * Sends the SDK's calls through the egress guard, each on its own connection. At 18 calls a second the handshakes cost a few
 * hundredths of one core, and the guard checks the address each time. INVARIANT: only for protocols that post text, like all
 * those used here; a query string is not sent.
 */
export function egressHandler(egress: Egress) {
  return {
    async handle(request: SignedRequest, { abortSignal }: { abortSignal?: unknown } = {}): Promise<Answered> {
      const { protocol, hostname, port, path, method, headers, body } = request
      const url = `${protocol}//${hostname}${port === undefined ? '' : `:${port}`}${path}`
      const tooLong = AbortSignal.timeout(maxHttpMs)
      const signal = abortSignal instanceof AbortSignal ? AbortSignal.any([abortSignal, tooLong]) : tooLong
      const answer = await egress.call(url, { method, headers, body: textOf(body), signal })
      return {
        response: {
          statusCode: answer.status,
          headers: Object.fromEntries(answer.headers),
          body: new Uint8Array(await answer.arrayBuffer()),
        },
      }
    },
    // The SDK may read or update a handler's settings; this one has none.
    updateHttpClientConfig: () => undefined,
    httpHandlerConfigs: () => ({}),
  }
}

function textOf(body: unknown): string {
  if (body === undefined) return ''
  if (typeof body === 'string') return body
  if (body instanceof Uint8Array) return new TextDecoder().decode(body)
  throw new Error('an AWS call has a body that is not text; only text can be sent')
}
