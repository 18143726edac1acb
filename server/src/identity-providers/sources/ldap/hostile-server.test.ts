import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { freePort } from '../../../../test/support/free-port.ts'
import { loopbackEgress, readAll } from '../../../../test/support/ldap-reading.ts'
import {
  ber,
  bindResult,
  entry,
  extendedResult,
  type LdapRequest,
  message,
  openScriptedLdap,
  operations,
  searchDone,
} from '../../../../test/support/scripted-ldap.ts'
import { until } from '../../../../test/support/wait.ts'
import { ldapSource } from './ldap-source.ts'

const password = 'the password of the hostile tests'

const person = (id: number, index: number) =>
  entry(id, `uid=${index},dc=example`, { entryUUID: [`id-${index}`], uid: [`${index}`] })

/** Reads from a server that says this to a search, and else what is usual. */
async function readFrom(
  search: (request: LdapRequest, count: number) => Buffer[],
  more: Record<string, unknown> = {},
  signIn: (request: LdapRequest) => Buffer[] = ({ id }) => [bindResult(id)],
) {
  let count = 0
  const server = await openScriptedLdap((request) => {
    if (request.operation !== operations.search) return signIn(request)
    count += 1
    return search(request, count)
  })
  const config = {
    ...{ host: '127.0.0.1', port: server.port, tls: 'off', base_dn: 'dc=example' },
    ...{ bind_dn: 'cn=reader', bind_password: password, ...more },
  }
  await readAll(config, { groups: false }).finally(server.stop)
}

suite('a server is not believed', () => {
  const faults: [string, (request: LdapRequest, count: number) => Buffer[], { kind: string; message: RegExp }][] = [
    [
      'that says nothing of further pages',
      ({ id }) => [person(id, 1), searchDone(id, null)],
      { kind: 'permanent', message: /does not say whether `base_dn` `dc=example` has more pages/ },
    ],
    [
      'that cannot send pages',
      ({ id }) => [searchDone(id, null, 12, 'control not supported')],
      { kind: 'permanent', message: /RFC 2696.*it says: control not supported/ },
    ],
    [
      'that repeats a page without an end',
      ({ id }) => [person(id, 1), person(id, 2), searchDone(id, 'again')],
      { kind: 'transient', message: /sent `uid=1,dc=example` twice/ },
    ],
    [
      'that sends empty pages without an end',
      ({ id }) => [searchDone(id, 'again')],
      { kind: 'transient', message: /comes to no end of `base_dn`/ },
    ],
    [
      'that ends in the middle of a page',
      ({ id }, count) => (count === 1 ? [person(id, 1), searchDone(id, 'next')] : []),
      { kind: 'transient', message: /ended the connection/ },
    ],
    [
      'that reaches its time limit after some of them',
      ({ id }) => [person(id, 1), searchDone(id, '', 3)],
      { kind: 'transient', message: /time limit/ },
    ],
    [
      'that refers to another one',
      ({ id }) => [searchDone(id, '', 10)],
      { kind: 'permanent', message: /refers to another server/ },
    ],
    [
      'that has no right to give',
      ({ id }) => [searchDone(id, '', 50)],
      { kind: 'permanent', message: /does not let `bind_dn` read/ },
    ],
    [
      'that has lost somebody since the reading began',
      ({ id }, count) => [person(id, 1), ...(count === 1 ? [person(id, 2)] : []), searchDone(id)],
      { kind: 'transient', message: /changed while it was read: `id-2`/ },
    ],
    [
      'that says it is about to end',
      () => [extendedResult(0, 52, 'shutting down')],
      { kind: 'transient', message: /shutting down/ },
    ],
    [
      'that answers another request',
      ({ id }) => [person(id + 1, 1)],
      { kind: 'transient', message: /an answer that nothing asked for/ },
    ],
    [
      'that answers a search as if it were a sign-in',
      ({ id }) => [bindResult(id)],
      { kind: 'transient', message: /an answer that nothing asked for/ },
    ],
    // With 13 bytes, it keeps the reader of a library busy until the memory is used up.
    [
      'that sends an entry which ends too early',
      ({ id }) => [message(id, Buffer.from([0x64, 0x04, 0x04, 0x00, 0x30, 0x10]))],
      { kind: 'transient', message: /does not speak LDAP/ },
    ],
    [
      'that begins a message of 4 GB',
      () => [Buffer.from([0x30, 0x84, 0xff, 0xff, 0xff, 0xff])],
      { kind: 'transient', message: /a message of more than \d+ bytes/ },
    ],
    [
      'that sends more than a page can have',
      ({ id }) => Array.from({ length: 5 }, () => entry(id, 'dc=x', { x: ['x'.repeat(16_000_000)] })),
      { kind: 'permanent', message: /sent too much for one page: lower `page_size`/ },
    ],
    [
      'that speaks another protocol',
      () => [Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')],
      { kind: 'transient', message: /does not speak LDAP/ },
    ],
  ]
  for (const [what, script, refused] of faults) {
    test(what, async () => {
      await assert.rejects(readFrom(script), { name: 'TargetError', ...refused })
    })
  }
})

suite('a connection', () => {
  test('that nobody accepts may be accepted later', async () => {
    await assert.rejects(
      readFrom(() => [], { port: await freePort() }),
      { name: 'TargetError', kind: 'transient', message: /cannot be read: connect ECONNREFUSED.*check `host`, `port`/ },
    )
  })

  test('is closed when a reading ends, when it is left, and when it fails', async () => {
    const server = await openScriptedLdap(({ id, operation, text }) => {
      if (operation !== operations.search) return [bindResult(id)]
      return text.includes('next') ? [searchDone(id, null, 80)] : [person(id, 1), searchDone(id, 'next')]
    })
    const config = {
      ...{ host: '127.0.0.1', port: server.port, tls: 'off', base_dn: 'dc=example' },
      ...{ bind_dn: 'cn=reader', bind_password: password },
    }
    const open = () => ldapSource.open(config, loopbackEgress)({ groups: false }, new AbortController().signal)
    for await (const _ of open()) {
      assert.equal(server.connections(), 1)
      break
    }
    await until('the connection that was left is closed', async () => server.connections() === 0)
    await assert.rejects(readAll(config), { message: /refused with the result code 80/ })
    await until('the connection that failed is closed', async () => server.connections() === 0)
    await server.stop()
  })
})

suite('the password', () => {
  test('is in no error, also where the server repeats it', async () => {
    const signIn = ({ id }: LdapRequest) => [bindResult(id, 49, `\`${password}\` is\nwrong`)]
    const refused = { message: /it says: `\[redacted\]` is wrong/ }
    await assert.rejects(
      readFrom(() => [], {}, signIn),
      refused,
    )
  })

  test('is not sent where StartTLS is refused', async () => {
    let sent = ''
    const signIn = ({ id, text }: LdapRequest) => {
      sent += text
      return [extendedResult(id, 2, 'unsupported extended operation')]
    }
    await assert.rejects(
      readFrom(() => [], { tls: 'verify', start_tls: true }, signIn),
      { kind: 'permanent', message: /leave `start_tls` out and use port 636/ },
    )
    assert.ok(sent.includes('1.3.6.1.4.1.1466.20037'))
    assert.ok(!sent.includes(password))
  })

  test('is not sent where something stands between StartTLS and TLS', async () => {
    let sent = ''
    const begun = ber(0x30, 'the beginning of a message').subarray(0, 9)
    const signIn = ({ id, text }: LdapRequest) => {
      sent += text
      return [extendedResult(id), begun]
    }
    await assert.rejects(
      readFrom(() => [], { tls: 'verify', start_tls: true }, signIn),
      { kind: 'transient', message: /something between StartTLS and TLS/ },
    )
    assert.ok(!sent.includes(password))
  })
})
