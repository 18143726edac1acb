import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { after, suite, test } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { UnbindRequest } from 'ldapts'
import { openWire, untilConnected } from './wire.ts'

suite('a server that never answers', async () => {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => sockets.add(socket.on('error', () => undefined))).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const host = '127.0.0.1'
  after(async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
    await once(server, 'close')
  })
  const tooSlow = { message: 'it did not answer within 1 s' }

  test('is given up for a request, and every later one', async () => {
    const socket = connect({ port, host })
    await untilConnected(socket, 'connect', 60_000)
    const wire = openWire(socket)
    const ask = () => wire.ask(new UnbindRequest({ messageId: 0 }), { ms: 20, bytes: 100 }, () => true)
    await assert.rejects(ask(), tooSlow)
    assert.equal(socket.destroyed, true)
    await assert.rejects(ask(), tooSlow)
  })

  test('is given up for TLS from the beginning, and for TLS later', async () => {
    const secured = connectTls({ port, host })
    await assert.rejects(untilConnected(secured, 'secureConnect', 20), tooSlow)
    assert.equal(secured.destroyed, true)
    const socket = connect({ port, host })
    await untilConnected(socket, 'connect', 60_000)
    await assert.rejects(openWire(socket).startTls({}, 20), tooSlow)
    assert.equal(socket.destroyed, true)
  })
})
