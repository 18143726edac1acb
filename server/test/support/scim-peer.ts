import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after } from 'node:test'

/** A request that a SCIM server of a test got. `path`: below the base address, without the query. */
export type Asked = { path: string; query: URLSearchParams; headers: IncomingMessage['headers'] }

/** What it answers: JSON, or whatever the function writes. */
export type PeerAnswer =
  | { status?: number; body?: unknown; headers?: Record<string, string> }
  | ((reply: ServerResponse) => void)

/** A SCIM server that answers as a test says, on a free port of 127.0.0.1. It is closed when the file's tests are done. */
export async function openScimPeer(answer: (asked: Asked) => PeerAnswer) {
  const asked: Asked[] = []
  const server = createServer((request, reply) => {
    const url = new URL(request.url ?? '/', 'http://peer')
    const one = { path: url.pathname.replace(/^\/scim/, ''), query: url.searchParams, headers: request.headers }
    asked.push(one)
    const made = answer(one)
    if (typeof made === 'function') return made(reply)
    const { status = 200, body, headers } = made
    reply.writeHead(status, { 'content-type': 'application/scim+json', ...headers })
    reply.end(typeof body === 'string' ? body : JSON.stringify(body ?? {}))
  })
  await new Promise<void>((done) => {
    server.listen(0, '127.0.0.1', done)
  })
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return {
    base_url: `http://127.0.0.1:${port}/scim`,
    asked,
    paths: () => asked.map(({ path, query }) => (query.size === 0 ? path : `${path}?${query}`)),
  }
}

/** A page of a list by its query, as RFC 7644 describes it. `max`: the most entries that the server gives at a time. */
export function pageOf(all: readonly unknown[], { query }: Asked, max = Number.POSITIVE_INFINITY) {
  const from = Math.max(1, Number(query.get('startIndex') ?? 1)) - 1
  const count = Math.min(Number(query.get('count') ?? 100), max)
  return { totalResults: all.length, Resources: all.slice(from, from + count) }
}
