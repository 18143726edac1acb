import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { after, suite, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { openNodeServer } from '../src/http/node-server.ts'
import { openHouse } from './support/house.ts'
import { until } from './support/wait.ts'

/** Connections that hold the service up by doing little: each is closed, and others are served meanwhile. */
const house = await openHouse()
const { server } = house.app
const address = await server.listen({ host: '127.0.0.1', port: 0 })
const port = Number(new URL(address).port)

/** The same with shorter timeouts, so that the test takes seconds. */
const hasty = await openHouse()
const tenant = await hasty.tenant('slow')
Object.assign(hasty.app.server.server, { requestTimeout: 3_000, headersTimeout: 3_000, timeout: 2_500 })
const hastyPort = Number(new URL(await hasty.app.server.listen({ host: '127.0.0.1', port: 0 })).port)

const sockets = new Set<Socket>()
after(() => {
  for (const socket of sockets) socket.destroy()
})

/** A connection that sends this at once, and then a little more at intervals until it is closed. */
function trickle(to: number, first: string, more: string): Socket {
  const socket = connect(to, '127.0.0.1', () => socket.write(first))
  const drip = setInterval(() => socket.write(more), 300)
  // A connection that the service closes may end in any way.
  socket.on('error', () => undefined).on('close', () => clearInterval(drip))
  sockets.add(socket)
  return socket
}

/** Waits until the service has closed all of them; returns the answer to each. */
function ended(all: readonly Socket[]): Promise<string[]> {
  return Promise.all(
    all.map(async (socket) => {
      let received = ''
      socket.on('data', (bytes) => {
        received += String(bytes)
      })
      await until('the connection is closed', async () => socket.closed)
      return received.split('\r\n')[0] ?? ''
    }),
  )
}

const many = <Item>(count: number, make: () => Item): Item[] => Array.from({ length: count }, make)

suite('300 slow connections at once (I13)', { concurrency: true }, () => {
  const head = `POST /v1/auth/login HTTP/1.1\r\nHost: x\r\nX-Tenant-ID: ${tenant.tenant_id}\r\nContent-Type: application/json\r\n`

  test('are closed when their headers take too long', async () => {
    const slow = many(200, () => trickle(port, 'GET /livez HTTP/1.1\r\nHost: x\r\n', 'X-A: b\r\n'))
    assert.deepEqual(new Set(await ended(slow)), new Set(['HTTP/1.1 408 Request Timeout']))
  })

  test('are closed when they send nothing', async () => {
    await ended(many(50, () => trickle(port, '', '')))
  })

  test('are closed when their body takes too long', async () => {
    const statusLines = await ended(many(50, () => trickle(hastyPort, `${head}Content-Length: 1000\r\n\r\n{`, ' ')))
    // On a machine so busy that the next byte is late, the idle timeout closes it first.
    assert.ok(
      statusLines.every((answer) => ['', 'HTTP/1.1 408 Request Timeout'].includes(answer)),
      statusLines.join(),
    )
  })

  test('are closed when they do not read the answer', async () => {
    const request = 'GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'
    const deaf = many(10, () => {
      const socket = connect(hastyPort, '127.0.0.1', () => socket.write(request.repeat(50)))
      sockets.add(socket.on('error', () => undefined))
      return socket.pause()
    })
    await until('all calls are sent', async () => deaf.every((socket) => socket.bytesWritten > 0))
    await until('the service holds no connection', async () => (await held()) === 0)
  })

  test('do not keep others from being served', async () => {
    for (let n = 0; n < 20; n += 1) {
      const reply = await fetch(`${address}/livez`, { headers: { connection: 'close' } })
      assert.equal(reply.status, 200)
      await pause(100)
    }
  })
})

function held(): Promise<number> {
  return new Promise((resolve, reject) =>
    hasty.app.server.server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
  )
}

test('the number of connections is limited, and each kind of idle time (I13)', () => {
  const { maxConnections, timeout, requestTimeout, headersTimeout } = server.server
  assert.deepEqual(
    { maxConnections, timeout, requestTimeout, headersTimeout },
    {
      maxConnections: 2_000,
      timeout: 20_000,
      requestTimeout: 15_000,
      headersTimeout: 5_000,
    },
  )
})

test('connections that wait for no answer make room when there is none (F23)', async () => {
  const server = openNodeServer((_request, response) => response.end('here'), { maxOpen: 20 })
  // So that no connection is closed for its age.
  Object.assign(server, { keepAliveTimeout: 0, timeout: 0 })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port: full } = server.address() as AddressInfo
  after(() => server.close().closeAllConnections())
  const answered = () =>
    new Promise<boolean>((resolve) => {
      const socket = trickle(full, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n', '')
      socket.once('data', () => resolve(true)).once('close', () => resolve(false))
    })
  for (const _one of Array(20).keys()) assert.ok(await answered())
  await until('the next is served', answered)
})
