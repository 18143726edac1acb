import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { after } from 'node:test'
import { Webhook } from 'standardwebhooks'

/** A message as it was received. */
export type Posted = { path: string; headers: IncomingHttpHeaders; body: string }

/** A receiver of events, which keeps the messages and answers as the test says; stopped when the tests are done. */
export async function startEventReceiver() {
  const posted: Posted[] = []
  const receiver = {
    url: '',
    posted,
    answer: (reply: ServerResponse): unknown => reply.writeHead(204).end(),
    last: (): Posted => {
      const last = posted.at(-1)
      if (last === undefined) throw new Error('nothing came')
      return last
    },
    /** Whether the Standard Webhooks library accepts the last message's signature for this secret. */
    proves(secret: string): boolean {
      const { body, headers } = receiver.last()
      try {
        new Webhook(secret).verify(body, headers as Record<string, string>)
        return true
      } catch {
        return false
      }
    },
  }
  const server = createServer(async (request, reply) => {
    posted.push({ path: request.url ?? '', headers: request.headers, body: await text(request) })
    receiver.answer(reply)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`
  return receiver
}
