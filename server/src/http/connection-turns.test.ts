import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { after, suite, test } from 'node:test'
import { until } from '../../test/support/wait.ts'
import { inTurn } from './connection-turns.ts'

const servers: Server[] = []
after(() => {
  for (const server of servers) server.close().closeAllConnections()
})

async function listen(handle: RequestListener): Promise<number> {
  const server = createServer(inTurn(handle)).listen(0, '127.0.0.1')
  servers.push(server)
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/** A connection that sends these requests at once. */
function pipeline(port: number, paths: readonly string[]): Socket {
  const socket = connect(port, '127.0.0.1')
  socket.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`).join(''))
  return socket
}

const numbered = (count: number) => Array.from({ length: count }, (_, n) => `/${n}`)

suite('requests sent at once on one connection (F22)', () => {
  test('are handled one at a time, in their order', async () => {
    const log: string[] = []
    const port = await listen(async ({ url }, response) => {
      log.push(`begin ${url}`)
      await new Promise(setImmediate)
      log.push(`end ${url}`)
      if (url === '/4') response.setHeader('connection', 'close')
      response.end(url)
    })
    const answers = await text(pipeline(port, numbered(5)))
    assert.deepEqual(
      log,
      numbered(5).flatMap((url) => [`begin ${url}`, `end ${url}`]),
    )
    assert.deepEqual(answers.match(/(?<=\r\n\r\n)\/\d/g), numbered(5))
  })

  test('are refused beyond 20 that wait, and the connection is closed', async () => {
    let handled = 0
    const port = await listen((_request, response) => {
      handled += 1
      setImmediate(() => response.end())
    })
    const answers = await text(pipeline(port, numbered(500)))
    assert.equal(handled, 21)
    assert.deepEqual(answers.match(/^HTTP\/1\.1 \d+/gm), [...Array(21).fill('HTTP/1.1 200'), 'HTTP/1.1 503'])
    assert.match(answers, /"code":"unavailable","message":"more than 20 requests wait on this connection/)
  })

  test('are dropped when the caller disconnects', async () => {
    const handled: string[] = []
    let finish = () => {}
    const port = await listen(({ url = '' }, response) => {
      handled.push(url)
      finish = () => response.end()
    })
    const socket = pipeline(port, numbered(5))
    await until('the first is handled', async () => handled.length === 1)
    socket.destroy()
    const other = pipeline(port, ['/other'])
    await until('the other connection is served', async () => handled.includes('/other'))
    finish()
    await once(other, 'data')
    other.destroy()
    assert.deepEqual(handled, ['/0', '/other'])
  })

  test('are served on the same connection after the answers to earlier ones', async () => {
    const port = await listen((_request, response) => response.end('ok'))
    const socket = pipeline(port, numbered(3))
    let received = ''
    socket.on('data', (bytes) => {
      received += String(bytes)
    })
    await until('three answers', async () => received.split('HTTP/1.1 200').length === 4)
    socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
    await until('a fourth', async () => received.split('HTTP/1.1 200').length === 5)
  })
})
