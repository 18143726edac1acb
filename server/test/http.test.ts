import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { openHouse } from './support/house.ts'

/** Requests that the server handles below its operations: unknown paths and methods, and bytes that are not a request. */
const house = await openHouse()
const address = await house.app.server.listen({ host: '127.0.0.1', port: 0 })
const port = Number(new URL(address).port)

/** Sends these bytes and reads the whole answer. */
async function send(bytes: string): Promise<{ status: number; body: { code?: string; message?: string } }> {
  const socket = connect(port, '127.0.0.1')
  socket.write(bytes)
  const answer = await text(socket)
  const body = answer.slice(answer.indexOf('\r\n\r\n') + 4)
  return { status: Number(answer.split(' ')[1]), body: JSON.parse(body) as { code: string } }
}

const request = (line: string, ...headers: string[]) =>
  `${[line, 'Host: x', 'Connection: close', ...headers].join('\r\n')}\r\n\r\n`
const get = (...headers: string[]) => request('GET /livez HTTP/1.1', ...headers)
const post = (...headers: string[]) => request('POST /v1/requests HTTP/1.1', ...headers)
const chunked = 'Transfer-Encoding: chunked'

/** A request line and its expected answer. */
const misaddressed: [string, string, number, string][] = [
  ['a path that is not well-formed', request('GET /v1/%zz HTTP/1.1'), 400, 'invalid_input'],
  ['a path with half a character', request('GET /v1/requests/%ed%a0%80 HTTP/1.1'), 400, 'invalid_input'],
  ['a path with NUL', request('GET /v1/requests/%00 HTTP/1.1'), 401, 'unauthenticated'],
  ['a path with NUL unencoded', request('GET /v1/requests\0 HTTP/1.1'), 400, 'invalid_input'],
  ['a path that goes up', request('GET /v1/../v1/%2e%2e/users HTTP/1.1'), 404, 'not_found'],
  ['a path that goes up by a semicolon', request('GET /v1/..;/livez HTTP/1.1'), 404, 'not_found'],
  ['an unknown path', request('GET /v2/requests HTTP/1.1'), 404, 'not_found'],
  ['a path with a slash too many', request('GET //livez HTTP/1.1'), 404, 'not_found'],
  ['a path of 15 KB', request(`GET /v1/${'a'.repeat(15_000)} HTTP/1.1`), 404, 'not_found'],
  ['a path of 20 KB', request(`GET /v1/${'a'.repeat(20_000)} HTTP/1.1`), 431, 'headers_too_large'],
  ['an address with scheme and host', request('GET http://evil.example/livez HTTP/1.1'), 400, 'invalid_input'],
  ['an address for everything', request('OPTIONS * HTTP/1.1'), 400, 'invalid_input'],
  [
    'a method that the path does not support',
    request('PUT /v1/requests HTTP/1.1', 'Content-Length: 0'),
    405,
    'method_not_allowed',
  ],
  ...['/v1/requests', '/v1/requests/1', '/livez', '/docs/', '/docs/static/index.css', '/openapi.json'].flatMap((path) =>
    ['TRACE', 'OPTIONS', 'QUERY', 'PROPFIND'].map((method): [string, string, number, string] => [
      `${method} ${path}`,
      request(`${method} ${path} HTTP/1.1`),
      405,
      'method_not_allowed',
    ]),
  ),
  [
    'QUERY with a body',
    `${request('QUERY /livez HTTP/1.1', 'Content-Type: text/xml', 'Content-Length: 3')}<a>`,
    405,
    'method_not_allowed',
  ],
  ['QUERY of an unknown path', request('QUERY /v2/requests HTTP/1.1'), 404, 'not_found'],
  ['a method of a less close path', request('GET /v1/policies/reorder HTTP/1.1'), 405, 'method_not_allowed'],
  ['a percent-encoded letter of the path', request('GET /v1/%61udit-events HTTP/1.1'), 404, 'not_found'],
  ['a percent-encoded letter of a longer path', request('GET /v1/users/1/%72oles HTTP/1.1'), 404, 'not_found'],
  ['a percent-encoded letter in another place', request('GET /%6fpenapi.json HTTP/1.1'), 404, 'not_found'],
  ['a percent-encoded parameter', request('GET /v1/users/%61 HTTP/1.1'), 401, 'unauthenticated'],
  ['an unknown method', request('BREW /v1/requests HTTP/1.1'), 400, 'invalid_input'],
  ['a text that is not a request', 'hello\r\n\r\n', 400, 'invalid_input'],
  ['HTTP/0.9', 'GET /livez\r\n\r\n', 400, 'invalid_input'],
  ['HTTP/2 by prior knowledge', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400, 'invalid_input'],
]

/** Requests that a proxy before the service may parse differently: their end, or their host. */
const ambiguous: [string, string, number, string][] = [
  ['headers that are too long', get(`X: ${'x'.repeat(20_000)}`), 431, 'headers_too_large'],
  ['too many headers', get(...Array(3_000).fill('a: b')), 431, 'headers_too_large'],
  ['no host', 'GET /livez HTTP/1.1\r\nConnection: close\r\n\r\n', 400, 'invalid_input'],
  ['two hosts', get('Host: y'), 400, 'invalid_input'],
  ['a header over two lines', get('X-A: b\r\n c'), 400, 'invalid_input'],
  ['a space before the colon', get('X-A : b'), 400, 'invalid_input'],
  ['NUL in a header', get('X-A: b\0c'), 400, 'invalid_input'],
  ['a bare carriage return in a header', get('X-A: b\rc'), 400, 'invalid_input'],
  ['lines that end in LF only', 'GET /livez HTTP/1.1\nHost: x\n\n', 400, 'invalid_input'],
  ['a length and chunks', `${post('Content-Length: 5', chunked)}0\r\n\r\n`, 400, 'invalid_input'],
  ['chunks and a length', `${post(chunked, 'Content-Length: 5')}0\r\n\r\n`, 400, 'invalid_input'],
  ['two lengths', `${post('Content-Length: 1', 'Content-Length: 2')}ab`, 400, 'invalid_input'],
  ['one length twice', `${post('Content-Length: 1', 'Content-Length: 1')}a`, 400, 'invalid_input'],
  ['a list of lengths', `${post('Content-Length: 1, 1')}a`, 400, 'invalid_input'],
  ['a length with a sign', `${post('Content-Length: +1')}a`, 400, 'invalid_input'],
  ['a negative length', post('Content-Length: -1'), 400, 'invalid_input'],
  ['a length that is too large', post(`Content-Length: ${'9'.repeat(30)}`), 400, 'invalid_input'],
  ['chunks named identity', post('Transfer-Encoding: identity'), 400, 'invalid_input'],
  ['chunks misspelt', `${post('Transfer-Encoding: xchunked')}0\r\n\r\n`, 400, 'invalid_input'],
  ['chunks named twice', `${post(chunked, chunked)}0\r\n\r\n`, 400, 'invalid_input'],
  ['compressed chunks', `${post('Transfer-Encoding: gzip, chunked')}0\r\n\r\n`, 400, 'invalid_input'],
  ['chunks after a control character', `${post('Transfer-Encoding: \vchunked')}0\r\n\r\n`, 400, 'invalid_input'],
  ['chunks in HTTP/1.0', `${post(chunked).replace('HTTP/1.1', 'HTTP/1.0')}0\r\n\r\n`, 400, 'invalid_input'],
]
const broken = [...misaddressed, ...ambiguous]

for (const [what, bytes, status, code] of broken) {
  test(`answers ${what} with ${status} and the error object (I11)`, async () => {
    const reply = await send(bytes)
    assert.deepEqual([reply.status, reply.body.code], [status, code], JSON.stringify(reply.body))
    assert.ok(reply.body.message)
  })
}

test('two requests on one connection are separate, and a broken one closes it (I11)', async () => {
  const smuggled = 'GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n'
  const socket = connect(port, '127.0.0.1')
  socket.write(`${post(chunked, 'Content-Length: 5')}0\r\n\r\n${smuggled}`)
  const answer = await text(socket)
  assert.equal(answer.match(/HTTP\/1\.1 /g)?.length, 1, answer)
})

test('of many requests sent at once on one connection, 21 are answered, and the connection is closed (F22)', async () => {
  const socket = connect(port, '127.0.0.1')
  socket.write('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(800))
  const statuses = (await text(socket)).match(/(?<=HTTP\/1\.1 )\d+/g)
  assert.deepEqual(statuses, [...Array(21).fill('200'), '503'])
})

test('HTTP/1.0, the default of many proxies, is served one request at a time (I11)', async () => {
  const socket = connect(port, '127.0.0.1')
  socket.write('GET /livez HTTP/1.0\r\n\r\n')
  assert.match(await text(socket), /^HTTP\/1\.1 200 OK\r\n(?:.+\r\n)*?Connection: close\r\n/)
})

test('an unsupported method is answered with the supported ones', async () => {
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
