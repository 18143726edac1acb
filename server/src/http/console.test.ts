import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { type IncomingHttpHeaders, request } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, suite, test } from 'node:test'
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib'
import { unlogged } from '../../test/support/unlogged.ts'
import { until } from '../../test/support/wait.ts'
import type { ConsoleState } from '../kernel/console-state.ts'
import { pagePolicy } from './page-policy.ts'
import type { PipelineParts } from './pipeline.ts'
import { buildServer } from './server.ts'

const script = 'console.log("a script");'.repeat(100)
const page = '<!doctype html><title>The console</title>'

/** A build like that of the console, but small. */
async function makeBuild(content = page): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'console-'))
  after(() => rm(folder, { recursive: true, force: true }))
  await mkdir(join(folder, 'assets'))
  const files = {
    'index.html': content,
    'robots.txt': 'User-agent: *',
    'assets/main-3fa9.js': script,
    'assets/main-3fa9.js.gz': gzipSync(script),
    'assets/main-3fa9.js.br': brotliCompressSync(script),
    'assets/icon-77.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
  }
  for (const [path, bytes] of Object.entries(files)) await writeFile(join(folder, path), bytes)
  return folder
}

type Reply = { status: number; headers: IncomingHttpHeaders; bytes: Buffer; text: string }

/** A server with this console, without operations. `call` sends the path as it is. */
async function serve(find?: () => ConsoleState) {
  const server = await buildServer({
    operations: {},
    parts: {} as PipelineParts,
    findUnreadiness: async () => undefined,
    console: find,
    trustProxy: false,
    publicUrl: 'http://127.0.0.1',
    ...unlogged,
  })
  after(() => server.close())
  const { port } = new URL(await server.listen({ host: '127.0.0.1', port: 0 }))
  const call = async (path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Reply> => {
    const sent = request({ host: '127.0.0.1', port, path, method, headers, agent: false }).end()
    const { promise, resolve, reject } = Promise.withResolvers<Reply>()
    sent.once('error', reject).once('response', (reply) => {
      const { statusCode: status = 0, headers } = reply
      reply.setEncoding('latin1')
      text(reply).then((body) => {
        const bytes = Buffer.from(body, 'latin1')
        resolve({ status, headers, bytes, text: bytes.toString() })
      }, reject)
    })
    return promise
  }
  return Object.assign(call, { server, port: Number(port) })
}

const folder = await makeBuild()
const get = await serve(() => ({ folder }))

suite('the page of the console', () => {
  for (const path of [
    '/console/',
    '/console/requests',
    '/console/requests/1?tab=why',
    '/console/index.html',
    '/console//',
  ]) {
    test(`answers ${path}`, async () => {
      const { status, headers, text } = await get(path)
      assert.deepEqual([status, text], [200, page])
      assert.equal(headers['content-type'], 'text/html; charset=utf-8')
      assert.equal(headers['cache-control'], 'no-cache')
    })
  }

  for (const path of [
    '/console/..',
    '/console/../v1/users',
    '/console/%2e%2e/%2e%2e/package.json',
    '/console/assets.br',
  ]) {
    test(`and no other file answers ${path}`, async () => assert.equal((await get(path)).text, page))
  }

  test('is not sent again to a browser that has it', async () => {
    const { headers } = await get('/console/')
    const { etag = '' } = headers
    for (const tag of [etag, `W/${etag}`, `"x", ${etag}`]) {
      const again = await get('/console/me', { 'if-none-match': tag })
      assert.deepEqual([again.status, again.text, again.headers.etag], [304, '', etag])
      assert.equal(again.headers['content-security-policy'], pagePolicy)
    }
    assert.equal((await get('/console/', { 'if-none-match': '"x"' })).status, 200)
  })

  test('has another tag for another build, whatever the times of the files are', async () => {
    const [one, other] = [await makeBuild(), await makeBuild(page.replace('The', 'Our'))]
    let at = one
    const call = await serve(() => ({ folder: at }))
    const { headers } = await call('/console/')
    assert.equal(headers.etag, (await get('/console/')).headers.etag)
    at = other
    assert.notEqual((await call('/console/')).headers.etag, headers.etag)
  })
})

suite('a file of the console', () => {
  const path = '/console/assets/main-3fa9.js'

  test('is kept by browsers for good, as its name changes with its content', async () => {
    const { status, headers, text } = await get(path)
    assert.deepEqual([status, text], [200, script])
    assert.equal(headers['cache-control'], 'public, max-age=31536000, immutable')
    assert.equal(headers['content-type'], 'text/javascript; charset=utf-8')
  })

  for (const [accept, encoding, unpack] of [
    ['gzip, deflate, br, zstd', 'br', brotliDecompressSync],
    ['gzip', 'gzip', gunzipSync],
    ['identity', undefined, (bytes: Buffer) => bytes],
  ] as const) {
    test(`is sent as ${encoding ?? 'it is'} for \`Accept-Encoding: ${accept}\``, async () => {
      const { headers, bytes } = await get(path, { 'accept-encoding': accept })
      assert.equal(headers['content-encoding'], encoding)
      assert.equal(headers['content-type'], 'text/javascript; charset=utf-8')
      assert.equal(headers.vary?.toLowerCase(), 'accept-encoding')
      assert.equal(unpack(bytes).toString(), script)
    })
  }

  test('is sent as it is where it has no compressed copy', async () => {
    const { headers, text } = await get('/console/assets/icon-77.svg', { 'accept-encoding': 'br, gzip' })
    assert.deepEqual([headers['content-encoding'], headers['content-type']], [undefined, 'image/svg+xml'])
    assert.match(text, /^<svg/)
  })

  test('whose name stays the same is asked for each time', async () => {
    const { headers, text } = await get('/console/robots.txt')
    assert.deepEqual([text, headers['cache-control'], headers.etag], ['User-agent: *', 'no-cache', undefined])
  })

  for (const unknown of [
    'main-0000.js',
    '',
    '.',
    'main-3fa9.js.br',
    'main-3fa9.js/',
    '../index.html',
    '%2e%2e/index.html',
    '..%2findex.html',
    'main-3fa9.js%00',
    '..%5cindex.html',
  ]) {
    test(`is not found as ${JSON.stringify(unknown)}`, async () => {
      const { status, headers, text } = await get(`/console/assets/${unknown}`)
      assert.deepEqual([status, JSON.parse(text).code], [404, 'not_found'])
      assert.match(String(headers['content-type']), /^application\/json/)
      assert.equal(headers['cache-control'], 'no-store')
    })
  }
})

suite('a reader who takes a file slowly', () => {
  test('takes no place of the requests in flight', async () => {
    const own = await makeBuild()
    // More than sockets hold.
    await writeFile(join(own, 'assets/large-1.js'), Buffer.alloc(16 * 1024 * 1024, 'a'))
    const { server, port } = await serve(() => ({ folder: own }))
    const reader = connect(port, '127.0.0.1').on('error', () => undefined)
    after(() => reader.destroy())
    reader.write('GET /console/assets/large-1.js HTTP/1.1\r\nHost: x\r\n\r\n')
    const [begin] = (await once(reader, 'data')) as [Buffer]
    reader.pause()
    assert.match(begin.toString(), /^HTTP\/1\.1 200/)
    assert.equal(server.underWay, 0)
    reader.destroy()
    await until('the answer has ended', async () => (await server.inject('/livez')).statusCode === 200)
    assert.equal(server.underWay, 0)
  })
})

suite('every answer of the console', () => {
  for (const path of [
    '/console',
    '/console/',
    '/console/x',
    '/console/assets/main-3fa9.js',
    '/console/assets/none',
    '/console/setup',
  ]) {
    test(`has the policy of pages and the headers of every answer: ${path}`, async () => {
      const { headers } = await get(path)
      assert.equal(
        headers['content-security-policy'],
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; form-action 'self'; " +
          "base-uri 'none'; require-trusted-types-for 'script'; trusted-types 'none'; frame-ancestors 'none'",
      )
      assert.equal(headers['referrer-policy'], 'no-referrer')
      assert.equal(headers['x-content-type-options'], 'nosniff')
      assert.ok(headers['x-request-id'])
    })
  }

  for (const path of ['/console', '/console/', '/console/x', '/console/assets/main-3fa9.js']) {
    test(`to HEAD has the head of the answer to GET: ${path}`, async () => {
      const [head, got] = [await get(path, {}, 'HEAD'), await get(path)]
      assert.deepEqual([head.status, head.text], [got.status, ''])
      for (const name of ['content-type', 'content-length', 'cache-control', 'etag', 'location'])
        assert.equal(head.headers[name], got.headers[name], name)
    })
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'TRACE']) {
      test(`to ${method} is 405: ${path}`, async () => {
        const { status, headers } = await get(path, {}, method)
        assert.deepEqual([status, headers.allow], [405, 'GET, HEAD'])
      })
    }
  }
})

suite('the paths beside the console', () => {
  test('`/console` and `/` lead to it', async () => {
    for (const path of ['/console', '/', '/?x=1']) {
      const { status, headers } = await get(path)
      assert.deepEqual([status, headers.location], [302, '/console/'], path)
    }
  })

  for (const [path, title] of [
    ['/console/setup', 'Set up Sallyport'],
    ['/console/invitation', 'Join Sallyport'],
  ] as const) {
    test(`${path} has its own page`, async () => assert.ok((await get(path)).text.includes(`<title>${title}</title>`)))
  }

  for (const path of ['/v1/nothing', '/scim/v2/nothing', '/consoles', '/%63onsole/', '/Console/', '/console%2f']) {
    test(`${path} is not found`, async () => {
      const { status, text } = await get(path)
      assert.deepEqual([status, JSON.parse(text).code], [404, 'not_found'])
    })
  }
})

suite('without a build', () => {
  test('while it is built, a page without script says so and loads again', async () => {
    const call = await serve(() => 'building')
    for (const path of ['/console/', '/console/requests/1', '/console/assets/main-3fa9.js']) {
      const { status, headers, text } = await call(path)
      assert.deepEqual([status, headers['retry-after'], headers['cache-control']], [503, '2', 'no-store'])
      assert.equal(headers['content-security-policy'], pagePolicy)
      assert.match(text, /<meta http-equiv="refresh" content="2">[\s\S]*<h1>The console is being built<\/h1>/)
      assert.doesNotMatch(text, /<script|<style|style="/)
    }
    assert.equal((await call('/')).headers.location, '/console/')
  })

  test('if there is none, a page says why, and leads to the reference', async () => {
    const call = await serve(() => ({ missing: '`console/dist` cannot be <written>; do this' }))
    const { status, headers, text } = await call('/console/requests')
    assert.deepEqual([status, headers['retry-after']], [503, undefined])
    assert.equal(headers['content-security-policy'], pagePolicy)
    assert.match(text, /`console\/dist` cannot be &lt;written&gt;; do this\.[\s\S]*<a href="\/docs\/">/)
    assert.doesNotMatch(text, /http-equiv|<script|<style|style="/)
    assert.equal((await call('/')).headers.location, '/docs/')
    assert.match((await call('/console/setup')).text, /<form/)
  })

  test('a server that is given none has none', async () => {
    const call = await serve()
    assert.equal((await call('/')).headers.location, '/docs/')
    assert.equal((await call('/console/')).status, 503)
  })

  test('one that is removed before it was read is said to be gone, and one that comes back is served on', async () => {
    const own = await makeBuild()
    const call = await serve(() => ({ folder: own }))
    await rm(join(own, 'index.html'))
    const { status, text } = await call('/console/')
    assert.equal(status, 503)
    assert.match(text, /restart the service/)
    await writeFile(join(own, 'index.html'), page)
    assert.equal((await call('/console/')).text, page)
    await rm(own, { recursive: true })
    assert.equal((await call('/console/assets/main-3fa9.js')).text, script)
  })
})
