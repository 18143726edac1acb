import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { openHouse } from './support/house.ts'

/** What reaches the server below its operations: paths, methods and bytes that are no request. */
const house = await openHouse()
const address = await house.app.server.listen({ host: '127.0.0.1', port: 0 })
const port = Number(new URL(address).port)

/** Sends these bytes and reads all that comes back. */
async function send(bytes: string): Promise<{ status: number; body: { code?: string; message?: string } }> {
  const socket = connect(port, '127.0.0.1')
  socket.write(bytes)
  const answer = await text(socket)
  const body = answer.slice(answer.indexOf('\r\n\r\n') + 4)
  return { status: Number(answer.split(' ')[1]), body: JSON.parse(body) as { code: string } }
}

const request = (line: string, ...headers: string[]) =>
  `${[line, 'Host: x', 'Connection: close', ...headers].join('\r\n')}\r\n\r\n`

const broken: [string, string, number, string][] = [
  ['a path that is not well-formed', request('GET /v1/%zz HTTP/1.1'), 400, 'invalid_input'],
  ['a path with NUL', request('GET /v1/requests/%00 HTTP/1.1'), 401, 'unauthenticated'],
  ['a path that goes up', request('GET /v1/../v1/%2e%2e/users HTTP/1.1'), 404, 'not_found'],
  ['a path that nobody serves', request('GET /v2/requests HTTP/1.1'), 404, 'not_found'],
  [
    'a method that the path does not take',
    request('PUT /v1/requests HTTP/1.1', 'Content-Length: 0'),
    405,
    'method_not_allowed',
  ],
  ['a method that nobody knows', request('BREW /v1/requests HTTP/1.1'), 400, 'invalid_input'],
  ['what is no request', 'hello\r\n\r\n', 400, 'invalid_input'],
  ['headers without end', request('GET / HTTP/1.1', `X: ${'x'.repeat(20_000)}`), 431, 'invalid_input'],
  [
    'two lengths of one body',
    `${request('POST /v1/requests HTTP/1.1', 'Content-Length: 5', 'Transfer-Encoding: chunked')}0\r\n\r\n`,
    400,
    'invalid_input',
  ],
]

for (const [what, bytes, status, code] of broken) {
  test(`answers ${what} with ${status} and the error object (I11)`, async () => {
    const reply = await send(bytes)
    assert.deepEqual([reply.status, reply.body.code], [status, code], JSON.stringify(reply.body))
    assert.ok(reply.body.message)
  })
}

test('a method that is not taken is told those that are', async () => {
  const reply = await fetch(`${address}/v1/policies/reorder`, { method: 'POST' })
  assert.equal(reply.status, 405)
  assert.equal(reply.headers.get('allow'), 'PATCH')
})

test('is alive and ready, and shows its reference and its document', async () => {
  for (const [path, type] of [
    ['/livez', 'application/json'],
    ['/readyz', 'application/json'],
    ['/openapi.json', 'application/json'],
    ['/docs/', 'text/html'],
    ['/', 'text/html'],
  ] as const) {
    const reply = await fetch(address + path)
    assert.equal(reply.status, 200, path)
    assert.ok(reply.headers.get('content-type')?.startsWith(type), path)
    assert.ok(reply.headers.get('x-request-id'), path)
  }
})

test('takes the caller’s request id where it is well-formed, and makes one where it is not', async () => {
  const given = await fetch(`${address}/livez`, { headers: { 'x-request-id': 'trace-1.a' } })
  assert.equal(given.headers.get('x-request-id'), 'trace-1.a')
  const refused = await fetch(`${address}/livez`, { headers: { 'x-request-id': 'two words' } })
  assert.match(refused.headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/)
})
