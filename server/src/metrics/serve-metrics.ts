import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { metricsContentType } from './metrics.ts'

export type MetricsPage = { port: number; close(): Promise<void> }

/**
 * Serves only `GET /metrics`, on a port apart from the service: a client that may read the metrics need not reach the service.
 * `read` returns the text. Throws if the address is not free.
 */
export async function serveMetrics(
  { host, port }: { host: string; port: number },
  read: () => Promise<string>,
): Promise<MetricsPage> {
  const server = createServer({ requestTimeout: 5_000, headersTimeout: 5_000 }, (request, reply) => {
    const path = request.url?.replace(/\?.*/s, '')
    if (path !== '/metrics' || (request.method !== 'GET' && request.method !== 'HEAD')) {
      reply.writeHead(path === '/metrics' ? 405 : 404).end()
      return
    }
    read().then(
      (text) => reply.writeHead(200, { 'content-type': metricsContentType, 'cache-control': 'no-store' }).end(text),
      () => reply.writeHead(500).end(),
    )
  })
  server.maxConnections = 32
  server.listen(port, host)
  await once(server, 'listening')
  return { port: portOf(server, port), close: () => close(server) }
}

function portOf(server: Server, requestedPort: number): number {
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : requestedPort
}

async function close(server: Server): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  server.closeAllConnections()
  await closed
}
