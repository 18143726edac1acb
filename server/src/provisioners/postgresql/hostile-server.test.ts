import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { after, test } from 'node:test'
import { inputOf, noTx, openingOf, ownPassword } from '../../../test/support/postgresql-stage.ts'
import { inTime } from '../in-time.ts'
import { postgresql } from './postgresql.ts'

/** How a broken or hostile server responds. `sent` is what it received from the driver. */
type Script = (socket: Socket, sent: Buffer) => void

const message = (letter: string, ...parts: (string | number[])[]) => {
  const body = Buffer.concat(parts.map((part) => Buffer.from(part as string)))
  const head = Buffer.alloc(5)
  head.write(letter)
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}
const welcome = Buffer.concat([message('R', [0, 0, 0, 0]), message('Z', 'I')])
const notice = message('N', 'SNOTICE\0', `M${'drop everything; '.repeat(500)}\0`, '\0')
const oneColumn = message('T', [0, 1], 'version\0', [0, 0, 0, 0, 0, 0, 0, 0, 0, 25, 0, 0, 0, 0, 0, 0, 0, 0])
const row = message('D', [0, 1, 0, 0, 0, 2], '18')

/** Sends `first` once, then `part` until the connection ends. */
function flood(socket: Socket, part: Buffer, first = Buffer.alloc(0)): void {
  socket.write(first)
  const much = Buffer.concat(Array.from({ length: Math.ceil(65_536 / part.length) }, () => part))
  const more = () => {
    while (!socket.destroyed && socket.write(much));
  }
  socket.on('drain', more)
  more()
}

const isStartup = (sent: Buffer) => sent.readInt32BE(4) === 196_608
const afterWelcome =
  (then: (socket: Socket) => void): Script =>
  (socket, sent) => {
    if (isStartup(sent)) socket.write(welcome)
    else then(socket)
  }

const scripts: [name: string, script: Script][] = [
  ['says nothing', () => undefined],
  ['hangs up', (socket) => socket.destroy()],
  ['speaks HTTP', (socket) => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n')],
  ['sends messages cut short', (socket) => socket.write(message('R', [0]))],
  ['sends rows without a query', (socket) => socket.write(row)],
  ['repeats its welcome without end', (socket) => flood(socket, welcome)],
  ['never ends a message', (socket) => socket.write(Buffer.from([0x53, 0x7f, 0xff, 0xff, 0xff]))],
  ['requires a costly password exchange', (socket, sent) => socket.write(scram(sent))],
  ['sends notices without end', afterWelcome((socket) => flood(socket, notice))],
  ['sends rows without end', afterWelcome((socket) => flood(socket, row, oneColumn))],
  ['sends one endless row', afterWelcome((socket) => flood(socket, row, Buffer.from([0x44, 0x7f, 0, 0, 0])))],
  ['sends malformed rows', afterWelcome((socket) => socket.write(Buffer.concat([oneColumn, message('D', [0, 9, 1])])))],
  [
    'answers a query without its row',
    afterWelcome((socket) => socket.write(Buffer.concat([message('C', 'SELECT 0\0'), message('Z', 'I')]))),
  ],
  [
    'refuses with a very long message',
    afterWelcome((socket) =>
      socket.write(
        Buffer.concat([message('E', 'SERROR\0', 'C42501\0', `M${'no\n'.repeat(9_000)}\0`, '\0'), message('Z', 'I')]),
      ),
    ),
  ],
]

/** Requires SCRAM, with two thousand million rounds. */
function scram(sent: Buffer): Buffer {
  if (isStartup(sent)) return message('R', [0, 0, 0, 10], 'SCRAM-SHA-256\0', '\0')
  const nonce = /r=([^,]+)/.exec(sent.toString())?.[1]
  return message('R', [0, 0, 0, 11], `r=${nonce}more,s=c2FsdA==,i=2000000000`)
}

for (const [name, script] of scripts) {
  test(`a server that ${name} fails one call with a short message`, async () => {
    const sockets = new Set<Socket>()
    const server = createServer((socket) => {
      sockets.add(socket)
      socket.on('error', () => undefined).on('data', (sent) => script(socket, sent))
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    const config = { host: '127.0.0.1', port, database: 'shop', user: 'sallyport', password: ownPassword, tls: 'off' }
    const more = { resource_ids: ['x'], roles: { read: 'app_readonly' } }
    const driver = postgresql.open(openingOf({ ...config, ...more }))
    const input = inputOf('ada@example.com', { resource: { type: 'cloud_db_instance', id: 'x' } })
    const before = process.memoryUsage().rss
    // A little longer than the driver waits for a connection, so that no test waits as long as a caller does.
    const failed = inTime(6_000, (signal) => driver.plan(noTx, input, signal))
    await assert.rejects(failed, (error: Error) => {
      assert.equal(error.name, 'TargetError')
      assert.ok(error.message.length < 500 && !error.message.includes('\n'), error.message)
      assert.ok(!error.message.includes(ownPassword))
      return true
    })
    const grown = (process.memoryUsage().rss - before) / 1024 / 1024
    assert.ok(grown < 200, `it cost ${Math.round(grown)} MB`)
    await driver.close()
    for (const socket of sockets) socket.destroy()
    server.close()
  })
}

// An exception outside of any call would end the process, so it fails the test run.
const thrown: unknown[] = []
process.on('uncaughtException', (error) => thrown.push(error))
after(() => assert.deepEqual(thrown, []))
