import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, suite, test } from 'node:test'
import { isPublicAddress } from './address.ts'
import { readEgressAllow } from './allow-list.ts'
import { callAnywhere, openEgress } from './egress.ts'

suite('an address is of the public internet', () => {
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

suite('the way out', () => {
  const closed = openEgress(readEgressAllow(''))
  let origin: string
  const server = createServer((request, reply) => {
    if (request.url === '/long') return reply.end(Buffer.alloc(1024 * 1024 + 1))
    if (request.url === '/away') return reply.writeHead(302, { location: '/long' }).end()
    if (request.url === '/never') return undefined
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
  const signal = AbortSignal.timeout(20_000)

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
  ]
  for (const [url, fault] of faulty) {
    test(`may not lead to ${url}`, async () => assert.match((await closed.findFault(url)) ?? '', fault))
  }

  test('may lead to a public address by TLS, and to what the operator lists without', async () => {
    assert.equal(await closed.findFault('https://93.184.216.34'), undefined)
    assert.equal(await openEgress(readEgressAllow('127.0.0.1')).findFault(origin), undefined)
    assert.equal(await openEgress(readEgressAllow('localhost')).findFault('http://localhost:1'), undefined)
  })

  test('is shut at the call too, whatever was said before', async () => {
    const inTls = origin.replace('http:', 'https:')
    await assert.rejects(closed.call(inTls, { signal }), /EGRESS_ALLOW/)
    await assert.rejects(closed.call(origin, { signal }), /not https/)
    await assert.rejects(closed.call(inTls.replace('127.0.0.1', 'localhost'), { signal }), /EGRESS_ALLOW/)
  })

  test('leads to what is listed, by address and by name', async () => {
    const { port } = new URL(origin)
    const open = openEgress(readEgressAllow('127.0.0.0/8,localhost'))
    const reply = await open.call(origin, { method: 'POST', body: 'x', signal })
    assert.equal(await reply.text(), `POST 127.0.0.1:${port}`)
    const named = await open.call(`http://localhost:${port}`, { signal })
    assert.equal(await named.text(), `GET localhost:${port}`)
  })

  test('reads no more than a megabyte, follows nothing, and ends when it is told to', async () => {
    await assert.rejects(callAnywhere(`${origin}/long`, { signal }), /longer than/)
    const away = await callAnywhere(`${origin}/away`, { signal })
    assert.deepEqual([away.status, away.headers.get('location')], [302, '/long'])
    await assert.rejects(callAnywhere(`${origin}/never`, { signal: AbortSignal.timeout(50) }), /abort/i)
  })
})
