import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { after, suite, test } from 'node:test'
import { TLSSocket } from 'node:tls'
import { type Certificate, makeAuthority } from '../../../../test/support/certificates.ts'
import { loopbackEgress, readAll } from '../../../../test/support/ldap-reading.ts'
import { bindResult, extendedResult } from '../../../../test/support/scripted-ldap.ts'
import { readEgressAllow } from '../../../egress/allow-list.ts'
import { openEgress } from '../../../egress/egress.ts'

const authority = makeAuthority()
const password = 'the password of the TLS tests'

type TlsServer = { port: number; connections: number; names: unknown[]; heard: string; stop(): Promise<void> }

/** A server that refuses each sign-in, and keeps what it was told over TLS. `startTls`: TLS begins after the first request. */
async function openTlsServer(certificate: Certificate, startTls: boolean): Promise<TlsServer> {
  const sockets = new Set<Socket>()
  const heard = { connections: 0, names: [] as unknown[], heard: '' }
  const secure = (socket: Socket) => {
    const secured = new TLSSocket(socket, { isServer: true, ...certificate })
    secured.on('secure', () => heard.names.push(secured.servername))
    secured
      .on('error', () => undefined)
      .on('data', (chunk) => {
        heard.heard += Buffer.from(chunk).toString('latin1')
        secured.write(bindResult(startTls ? 2 : 1, 49))
      })
  }
  const server: Server = createServer((socket) => {
    heard.connections += 1
    sockets.add(socket)
    socket.on('error', () => undefined)
    if (!startTls) return secure(socket)
    socket.once('data', () => {
      socket.write(extendedResult(1))
      secure(socket)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return Object.assign(heard, {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    async stop() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  })
}

suite('the password', { skip: authority === undefined && 'there is no openssl' }, () => {
  if (authority === undefined) return
  const usual = { base_dn: 'dc=example', bind_dn: 'cn=reader', bind_password: password, ca_certificate: authority.ca }

  async function openAt(certificate: Certificate, startTls: boolean) {
    const server = await openTlsServer(certificate, startTls)
    after(server.stop)
    return { server, config: { ...usual, host: 'localhost', port: server.port, start_tls: startTls } }
  }

  for (const startTls of [false, true]) {
    const how = startTls ? 'with StartTLS' : 'with TLS from the beginning'
    for (const [what, certificate, message] of [
      ['that has expired', authority.expired, /expired: renew it/],
      ['for another host', authority.misnamed, /another host: set `host` to a name in the certificate/],
      ['of an unknown authority', authority.selfSigned, /unknown authority: set `ca_certificate`/],
    ] as const) {
      test(`is not sent to a server with a certificate ${what}, ${how}`, async () => {
        const { server, config } = await openAt(certificate, startTls)
        await assert.rejects(readAll(config), { name: 'TargetError', kind: 'permanent', message })
        assert.equal(server.connections, 1)
        assert.equal(server.heard, '')
      })
    }

    test(`is sent to a server with the right certificate, ${how}`, async () => {
      const { server, config } = await openAt(authority.good, startTls)
      await assert.rejects(readAll(config), { kind: 'permanent', message: /did not accept the sign-in/ })
      assert.ok(server.heard.includes(password))
      assert.deepEqual(server.names, ['localhost'])
    })

    test(`is sent to the address that the egress guard found, and to no other, ${how}`, async () => {
      const { server, config } = await openAt(authority.misnamed, startTls)
      const resolved: string[] = []
      const egress = openEgress(readEgressAllow('mail.example.com'), async (host) => {
        resolved.push(host)
        return [{ address: '127.0.0.1', family: 4 }]
      })
      const refused = { kind: 'permanent', message: /mail\.example\.com:\d+ did not accept the sign-in/ }
      await assert.rejects(readAll({ ...config, host: 'mail.example.com' }, { egress }), refused)
      assert.deepEqual([resolved, server.names], [['mail.example.com'], ['mail.example.com']])
    })
  }

  test('is not sent into a network that the operator did not open', async () => {
    const { server, config } = await openAt(authority.good, false)
    const refused = { name: 'TargetError', message: /EGRESS_ALLOW/ }
    await assert.rejects(readAll(config, { egress: openEgress(readEgressAllow('')) }), refused)
    assert.equal(server.connections, 0)
  })

  test('is not sent without TLS to an address that is not of the loopback interface', async () => {
    const egress = { ...loopbackEgress, resolve: async () => [{ address: '192.0.2.1', family: 4 }] }
    const refused = { kind: 'permanent', message: /`localhost` is no loopback address/ }
    await assert.rejects(readAll({ ...usual, host: 'localhost', tls: 'off' }, { egress }), refused)
  })
})
