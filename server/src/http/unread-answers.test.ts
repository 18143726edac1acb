import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { after, suite, test } from 'node:test'
import { until } from '../../test/support/wait.ts'
import { openNodeServer } from './node-server.ts'
import { openUnreadAnswers } from './unread-answers.ts'

/** A connection with this much output that its caller has not read. */
class Output extends EventEmitter {
  writableLength = 0
  isDestroyed = false
  destroy() {
    this.isDestroyed = true
  }
}

/** Makes the connection, and checks it at each step: `[seconds, bytes unread, drained since the last step]`. */
function isClosedAfter(...steps: [number, number, 'drained'?][]): boolean {
  const unread = openUnreadAnswers(60_000)
  const output = new Output()
  unread.watch(output)
  for (const [seconds, length, drained] of steps) {
    output.writableLength = length
    if (drained) output.emit('drain')
    unread.check(seconds * 1_000)
  }
  return output.isDestroyed
}

suite('a connection whose output is unread for more than a minute is closed (F22)', () => {
  const cases: [string, Parameters<typeof isClosedAfter>, boolean][] = [
    [
      'nothing to read',
      [
        [0, 0],
        [100, 0],
      ],
      false,
    ],
    [
      'unread for a minute',
      [
        [0, 9],
        [60, 9],
      ],
      false,
    ],
    [
      'unread for longer',
      [
        [0, 9],
        [61, 9],
      ],
      true,
    ],
    [
      'read a few bytes at a time',
      [
        [0, 900],
        [30, 800],
        [61, 700],
      ],
      true,
    ],
    [
      'read in time, then unread again',
      [
        [0, 9],
        [30, 0],
        [31, 9],
        [90, 9],
      ],
      false,
    ],
    [
      'read between two checks',
      [
        [0, 9],
        [59, 9, 'drained'],
        [118, 9],
      ],
      false,
    ],
    [
      'unread since the last drain',
      [
        [0, 9],
        [59, 9, 'drained'],
        [120, 9],
      ],
      true,
    ],
  ]
  for (const [what, steps, isClosed] of cases) test(what, () => assert.equal(isClosedAfter(...steps), isClosed))

  test('a closed connection is no longer watched', () => {
    const unread = openUnreadAnswers(60_000)
    const output = new Output()
    unread.watch(output)
    output.writableLength = 9
    unread.check(0)
    output.emit('close')
    unread.check(100_000)
    assert.equal(output.isDestroyed, false)
  })
})

test('a server closes a connection that reads too slowly, though it is never idle (F22)', async () => {
  const server = openNodeServer((_request, response) => response.end(Buffer.alloc(50_000_000)), { maxUnreadMs: 1_000 })
  // Without the timeout of idle connections, which would close it as well.
  server.setTimeout(0).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined)
  after(() => {
    socket.destroy()
    server.close().closeAllConnections()
  })
  socket.pause().write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  const sip = setInterval(() => socket.read(8), 50)
  after(() => clearInterval(sip))
  const connections = () => new Promise<number>((resolve) => server.getConnections((_error, count) => resolve(count)))
  await until('the connection is open', async () => (await connections()) === 1)
  await until('the connection is closed', async () => (await connections()) === 0)
})
