import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import fastify from 'fastify'
import { Problem } from '../kernel/errors.ts'
import { openLimits } from './limits.ts'
import { formFor, serveReference } from './reference.ts'

/** A server with this document; `described` counts how often the document was built. */
async function serve() {
  const seen = { described: 0, serialized: 0 }
  const document = {
    toJSON() {
      seen.serialized += 1
      return { openapi: '3.1.0', paths: {} }
    },
  }
  const describe = () => {
    seen.described += 1
    return document
  }
  const server = fastify()
  server.setErrorHandler((error, _request, reply) => reply.code(error instanceof Problem ? error.status : 500).send())
  await serveReference(server, describe, openLimits({ bySource: true }))
  return { seen, get: (url: string, headers = {}) => server.inject({ method: 'GET', url, headers }) }
}
const text = '{"openapi":"3.1.0","paths":{}}'

suite('the OpenAPI document', () => {
  test('is built and serialized once, whatever the number of requests (F22)', async () => {
    const { seen, get } = await serve()
    assert.deepEqual(seen, { described: 0, serialized: 0 })
    const urls = ['/openapi.json', '/docs/json', '/openapi.json', '/docs/json']
    for (const { body } of await Promise.all(urls.map((url) => get(url)))) assert.equal(body, text)
    assert.deepEqual(seen, { described: 1, serialized: 1 })
  })

  test('is compressed for a caller who accepts it', async () => {
    const { get } = await serve()
    const plain = await get('/openapi.json')
    const gzip = await get('/openapi.json', { 'accept-encoding': 'gzip' })
    const brotli = await get('/openapi.json', { 'accept-encoding': 'gzip, br' })
    assert.equal(gunzipSync(gzip.rawPayload).toString(), plain.body)
    assert.equal(brotliDecompressSync(brotli.rawPayload).toString(), plain.body)
    const all = [plain, gzip, brotli]
    assert.deepEqual(
      all.map(({ headers }) => headers['content-encoding']),
      [undefined, 'gzip', 'br'],
    )
    for (const { headers } of all) assert.equal(headers.vary, 'accept-encoding')
    assert.equal(new Set(all.map(({ headers }) => headers.etag)).size, 3)
  })

  test('is not sent again to a caller who has it', async () => {
    const { get } = await serve()
    const { etag } = (await get('/openapi.json')).headers
    for (const [header, status] of [
      [etag, 304],
      [`"other", W/${etag}`, 304],
      ['*', 304],
      ['"other"', 200],
    ] as const) {
      const reply = await get('/openapi.json', { 'if-none-match': header })
      assert.deepEqual([reply.statusCode, reply.body], [status, status === 304 ? '' : text], header)
    }
  })

  test('is refused to a source that requests it too often, and so are the files of its page (F22)', async (t) => {
    // The limit recovers with time, of which none may pass.
    t.mock.method(performance, 'now', () => 0)
    const { get } = await serve()
    for (let n = 0; n < 100; n += 1) {
      for (const url of ['/openapi.json', '/docs/json', '/docs/static/logo.svg']) await get(url)
    }
    for (const url of ['/openapi.json', '/docs/json', '/docs/', '/docs/static/logo.svg'])
      assert.equal((await get(url)).statusCode, 429, url)
  })

  test('is not offered as YAML, which would be serialized for each request', async () => {
    const { get } = await serve()
    assert.equal((await get('/docs/yaml')).statusCode, 404)
  })
})

suite('the document is sent', () => {
  const cases: [string | undefined, string][] = [
    [undefined, 'identity'],
    ['', 'identity'],
    ['gzip', 'gzip'],
    ['GZIP;q=0.5', 'gzip'],
    ['deflate, gzip;q=1.0, *;q=0.5', 'gzip'],
    ['gzip, deflate, br, zstd', 'br'],
    ['br;q=0.5, gzip;q=0.8', 'gzip'],
    ['*', 'br'],
    ['br;q=0, *', 'gzip'],
    ['deflate', 'identity'],
    ['gzip;q=0', 'identity'],
    ['gzip; q=0.000, br;q=0', 'identity'],
    ['identity;q=1, gzip;q=0.001', 'gzip'],
    ['gzip;q=0.0000', 'identity'],
    ['gzip;x=1;q=0', 'identity'],
    ['br;q=2, gzip;q=.5', 'gzip'],
  ]
  for (const [header, form] of cases) test(`as \`${form}\` to \`${header}\``, () => assert.equal(formFor(header), form))
})
