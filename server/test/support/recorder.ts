import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { after } from 'node:test'

/** A call that the service has answered: the service must now keep the result. */
export type Exchange = { method: string; path: string; status: number; body: Record<string, unknown> }

export type Recorder = { url: string; exchanges: readonly Exchange[] }

/**
 * A proxy between a client and the service that records each answer before the client receives it. If the service is gone, the
 * proxy closes the client's connection.
 */
export async function startRecorder(target: string, onAnswer: (count: number) => void): Promise<Recorder> {
  const exchanges: Exchange[] = []
  const server = createServer((request, reply) => {
    pass(target, request, reply, (exchange) => {
      exchanges.push(exchange)
      onAnswer(exchanges.length)
    }).catch(() => request.socket.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => {
    server.close()
    server.closeAllConnections()
  })
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return { url: `http://127.0.0.1:${port}`, exchanges }
}

const passedOn = ['authorization', 'x-api-key', 'x-tenant-id', 'content-type']

async function pass(
  target: string,
  request: IncomingMessage,
  reply: ServerResponse,
  record: (exchange: Exchange) => void,
): Promise<void> {
  const { method = '', url: path = '' } = request
  let sent = ''
  for await (const part of request.setEncoding('utf8')) sent += part
  const answer = await fetch(target + path, {
    method,
    headers: passedOn.flatMap((name): [string, string][] => {
      const value = request.headers[name]
      return typeof value === 'string' ? [[name, value]] : []
    }),
    ...(sent !== '' && { body: sent }),
  })
  const text = await answer.text()
  record({ method, path, status: answer.status, body: (text === '' ? {} : JSON.parse(text)) as Exchange['body'] })
  reply.writeHead(answer.status, { 'content-type': 'application/json' }).end(text)
}
