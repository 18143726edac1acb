import type { Egress } from '../kernel/context.ts'

/** A request as the SDK hands it over, signed. */
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

/** How long one HTTP call may take, from the look-up of the name to the last byte. */
const maxHttpMs = 10_000

/**
 * Carries the SDK's calls through the guard. A connection for each call: at 18 calls a second its handshakes cost a few
 * hundredths of one core, and the guard looks at the address each time. INVARIANT: for protocols that post text alone, as
 * all of ours are; a query is not carried.
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
    // The SDK may ask a handler for its settings, and to change them: there are none.
    updateHttpClientConfig: () => undefined,
    httpHandlerConfigs: () => ({}),
  }
}

function textOf(body: unknown): string {
  if (body === undefined) return ''
  if (typeof body === 'string') return body
  if (body instanceof Uint8Array) return new TextDecoder().decode(body)
  throw new Error('only text is sent')
}
