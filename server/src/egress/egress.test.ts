import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { type AddressInfo, isIP } from 'node:net'
import { after, before, suite, test } from 'node:test'
import { isPublicAddress } from './address.ts'
import { readEgressAllow } from './allow-list.ts'
import { callAnywhere, openEgress } from './egress.ts'

suite('an address is public', () => {
  const cases: [string, boolean][] = [
    ['8.8.8.8', true],
    ['172.15.255.255', true],
    ['172.32.0.0', true],
    ['100.63.255.255', true],
    ['2606:4700::1111', true],
    ['::ffff:8.8.8.8', true],
    ['0.0.0.0', false],
    ['10.0.0.1', false],
    ['100.64.0.1', false],
    ['127.0.0.1', false],
    ['127.255.255.254', false],
    ['169.254.169.254', false],
    ['172.16.0.1', false],
    ['172.31.255.255', false],
    ['192.168.1.1', false],
    ['198.18.0.1', false],
    ['224.0.0.1', false],
    ['255.255.255.255', false],
    ['::', false],
    ['::1', false],
    ['::127.0.0.1', false],
    ['::ffff:127.0.0.1', false],
    ['::ffff:7f00:1', false],
    ['::ffff:a9fe:a9fe', false],
    ['64:ff9b::7f00:1', false],
    ['2002:7f00:1::', false],
    ['2001:db8::1', false],
    ['fc00::1', false],
    ['fd00:ec2::254', false],
    ['fe80::1', false],
    ['fe80::1%eth0', false],
    ['ff02::1', false],
    ['localhost', false],
    ['', false],
  ]
  for (const [address, is] of cases) test(`${address}: ${is}`, () => assert.equal(isPublicAddress(address), is))
})

suite('EGRESS_ALLOW', () => {
  test('takes hosts, addresses and networks of both families', () => {
    const allow = readEgressAllow('idp.corp.example, 10.1.0.0/16,127.0.0.1,fd00::/8, ')
    assert.deepEqual([...allow.hosts], ['idp.corp.example'])
    assert.deepEqual(
      allow.networks.map(({ address, bits }) => `${address}/${bits}`),
      ['10.1.0.0/16', '127.0.0.1/32', 'fd00::/8'],
    )
  })
  for (const text of ['10.1.0.0/33', '10.1', 'https://idp.example', 'a b', '*', '::1/x', '1.2.3.4/8/9']) {
    test(`refuses \`${text}\``, () => assert.throws(() => readEgressAllow(text), /EGRESS_ALLOW has/))
  }
})

suite('egress', () => {
  const closed = openEgress(readEgressAllow(''))
  let origin: string
  const server = createServer((request, reply) => {
    if (request.url === '/long') return reply.end(Buffer.alloc(1024 * 1024 + 1))
    if (request.url === '/away') return reply.writeHead(302, { location: '/long' }).end()
    if (request.url === '/never') return undefined
    if (request.url === '/drip') return void setInterval(() => reply.write('x'), 20).unref()
    if (request.url === '/switch')
      return request.socket.end('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n')
    if (request.url === '/cut') return request.socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf')
    return reply.end(`${request.method} ${request.headers.host}`)
  })
  before(async () => {
    await new Promise<void>((done) => {
      server.listen(0, '127.0.0.1', done)
    })
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  const signal = AbortSignal.timeout(120_000)

  const faulty: [string, RegExp][] = [
    ['ftp://example.com', /https address/],
    ['not an address', /https address/],
    ['http://93.184.216.34', /https address/],
    ['https://user:pass@93.184.216.34', /name or a password/],
    ['https://127.0.0.1', /EGRESS_ALLOW/],
    ['https://0x7f.1', /EGRESS_ALLOW/],
    ['https://2130706433', /EGRESS_ALLOW/],
    ['https://[::1]', /EGRESS_ALLOW/],
    ['https://[::ffff:169.254.169.254]', /EGRESS_ALLOW/],
    ['https://localhost', /EGRESS_ALLOW/],
    ['https://169.254.169.254/latest', /EGRESS_ALLOW/],
    ['https://0', /EGRESS_ALLOW/],
    ['https://0177.0.0.1', /EGRESS_ALLOW/],
    ['https://0xa9fea9fe', /EGRESS_ALLOW/],
    ['https://127.1', /EGRESS_ALLOW/],
    ['https://１２７.0.0.1', /EGRESS_ALLOW/],
    ['https://localhost.', /EGRESS_ALLOW/],
    ['https://[::]', /EGRESS_ALLOW/],
    ['https://[fd00::1]', /EGRESS_ALLOW/],
    ['https://[fe80::1]', /EGRESS_ALLOW/],
    ['https://[64:ff9b::a9fe:a9fe]', /EGRESS_ALLOW/],
    ['javascript:alert(1)', /https address/],
    ['file:///etc/passwd', /https address/],
    ['data:,x', /https address/],
  ]
  for (const [url, fault] of faulty) {
    test(`refuses ${url} (S1)`, async () => assert.match((await closed.findFault(url)) ?? '', fault))
  }

  test('accepts a public address with TLS, and a listed one without', async () => {
    assert.equal(await closed.findFault('https://93.184.216.34'), undefined)
    assert.equal(await openEgress(readEgressAllow('127.0.0.1')).findFault(origin), undefined)
    assert.equal(await openEgress(readEgressAllow('localhost')).findFault('http://localhost:1'), undefined)
  })

  test('refuses each forbidden address at the call too (S1)', async () => {
    for (const [url] of faulty.filter(([text]) => /^https?:\/\/(?!user:)/.test(text))) {
      await assert.rejects(closed.call(url, { signal }), /EGRESS_ALLOW|not https/, url)
    }
  })

  test('refuses a loopback server at the call too, by address and by name (S1)', async () => {
    const inTls = origin.replace('http:', 'https:')
    await assert.rejects(closed.call(inTls, { signal }), /EGRESS_ALLOW/)
    await assert.rejects(closed.call(origin, { signal }), /not https/)
    await assert.rejects(closed.call(inTls.replace('127.0.0.1', 'localhost'), { signal }), /EGRESS_ALLOW/)
  })

  test('calls what is listed, by address and by name', async () => {
    const { port } = new URL(origin)
    const open = openEgress(readEgressAllow('127.0.0.0/8,localhost'))
    const reply = await open.call(origin, { method: 'POST', body: 'x', signal })
    assert.equal(await reply.text(), `POST 127.0.0.1:${port}`)
    const named = await open.call(`http://localhost:${port}`, { signal })
    assert.equal(await named.text(), `GET localhost:${port}`)
  })

  test('reads at most a megabyte or what the caller says, follows no redirect, and ends when the signal aborts (S1)', async () => {
    await assert.rejects(callAnywhere(`${origin}/long`, { signal }), /longer than/)
    const longer = await callAnywhere(`${origin}/long`, { signal, maxAnswerBytes: 1024 * 1024 + 1 })
    assert.equal((await longer.arrayBuffer()).byteLength, 1024 * 1024 + 1)
    await assert.rejects(callAnywhere(`${origin}/long`, { signal, maxAnswerBytes: 1024 }), /longer than 1024 bytes/)
    const away = await callAnywhere(`${origin}/away`, { signal })
    assert.deepEqual([away.status, away.headers.get('location')], [302, '/long'])
    for (const slow of ['never', 'drip']) {
      await assert.rejects(callAnywhere(`${origin}/${slow}`, { signal: AbortSignal.timeout(50) }), /abort/i)
    }
  })

  test('ends by itself when the answer is cut or switches to another protocol (S1)', async () => {
    const open = new AbortController()
    for (const bad of ['switch', 'cut']) await assert.rejects(callAnywhere(`${origin}/${bad}`, open), /closed|abort/)
  })

  /** A name that resolves to another answer at each lookup; the last answer stays. */
  const changingName = (...answers: string[][]) => {
    const lookups: string[] = []
    const resolve = (host: string) => {
      lookups.push(host)
      const now = answers[Math.min(lookups.length, answers.length) - 1] ?? []
      return Promise.resolve(now.map((address) => ({ address, family: isIP(address) })))
    }
    return { lookups, resolve }
  }

  test('checks a name again at each call: one that resolves to an internal address after it was saved is refused (S1)', async () => {
    for (const inwards of ['127.0.0.1', '169.254.169.254', '::1', '::ffff:127.0.0.1', 'fd00::1']) {
      const { resolve, lookups } = changingName(['93.184.216.34'], [inwards])
      const egress = openEgress(readEgressAllow(''), resolve)
      assert.equal(await egress.findFault('https://rebind.example'), undefined)
      await assert.rejects(egress.call('https://rebind.example', { signal }), /EGRESS_ALLOW/)
      assert.match((await egress.findFault('https://rebind.example')) ?? '', /EGRESS_ALLOW/)
      assert.equal(lookups.length, 3)
    }
  })

  test('calls the address that was checked: the name is looked up once (S1)', async () => {
    const { resolve, lookups } = changingName(['127.0.0.1'], ['127.0.0.2'])
    const egress = openEgress(readEgressAllow('127.0.0.1,pinned.example'), resolve)
    const reply = await egress.call(`http://pinned.example:${new URL(origin).port}`, { signal })
    assert.match(await reply.text(), /^GET pinned.example:/)
    assert.deepEqual(lookups, ['pinned.example'])
  })

  test('calls only the allowed address of a name that also has an internal one (S1)', async () => {
    const { resolve } = changingName(['127.0.0.2', '127.0.0.1'])
    const reply = await openEgress(readEgressAllow('127.0.0.1'), resolve)
      .call(`https://both.example:${new URL(origin).port}`, { signal })
      .catch((error: Error & { port?: number; address?: string }) => error)
    // The server at 127.0.0.1 speaks plain http: the TLS error shows that it was called.
    assert.match(String(reply), /SSL|TLS|EPROTO|packet/i)
  })
})
