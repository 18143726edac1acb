import assert from 'node:assert/strict'
import { after, suite, test } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { type Certificate, makeAuthority } from '../../test/support/certificates.ts'
import { type MailPeer, type MailStep, readMail, startMailPeer } from '../../test/support/mail-peer.ts'
import { until } from '../../test/support/wait.ts'
import { type MailServer, readMailServer } from '../config/mail-config.ts'
import { type Letter, type MailDeadlines, openMailTransport } from './mail-transport.ts'

const letter: Letter = {
  from: { name: 'Sallyport', address: 'sallyport@example.com' },
  reply_to: undefined,
  to: 'ada@example.com',
  subject: 'Ada asks for access',
  text: 'Ada asks for access.',
  html: '<p>Ada asks for access.</p>',
  message_id: '0197.0@example.com',
  headers: { 'Auto-Submitted': 'auto-generated' },
}
const patient = new AbortController().signal
const short: MailDeadlines = { session: 300, attempt: 300, queue: 30_000 }
const login = { user: 'sallyport', password: 'hunter2+/=' }

const open: (() => unknown)[] = []
after(async () => {
  for (const close of open) await close()
})

async function peerOf(...options: Parameters<typeof startMailPeer>): Promise<MailPeer> {
  const peer = await startMailPeer(...options)
  open.push(peer.stop)
  return peer
}

function transportTo(peer: MailPeer, more: Partial<MailServer> = {}, deadlines?: MailDeadlines) {
  const server = readMailServer({ SMTP_URL: peer.url, SMTP_MESSAGES_PER_SECOND: '0' })
  assert.ok(server !== undefined)
  const transport = openMailTransport({ ...server, ...more }, 'sallyport.example.com', deadlines)
  open.push(transport.close)
  return transport
}

suite('an accepted mail', () => {
  test('goes to one recipient, and its outcome holds the server’s response', async () => {
    const peer = await peerOf()
    const sent = await transportTo(peer).send(letter, patient)
    assert.deepEqual(sent, { kind: 'delivered', said: '250 2.6.0 taken' })
    assert.deepEqual(
      peer.taken.map(({ from, to }) => [from, to]),
      [['sallyport@example.com', 'ada@example.com']],
    )
  })

  test('has exactly the expected headers, whatever its text is (J8)', async () => {
    const peer = await peerOf()
    const transport = transportTo(peer)
    const words = [
      'plain',
      'Zugänge – доступ – アクセス',
      '=?utf-8?q?Subject:_other?=',
      `long ${'x'.repeat(10_000)}`,
      'two\r\nBcc: evil@example.com\r\n\r\n<p>other</p>',
      '\u202eturned\u2028\u0000',
    ]
    for (const word of words) {
      const outcome = await transport.send({ ...letter, subject: word, text: word, html: word }, patient)
      assert.equal(outcome.kind, 'delivered')
    }
    const expected = 'Auto-Submitted From To Subject Message-ID Date MIME-Version Content-Type'.toLowerCase().split(' ')
    for (const [index, taken] of peer.taken.entries()) {
      const mail = await readMail(taken)
      assert.deepEqual(mail.headers.map(({ key }) => key).sort(), [...expected].sort())
      if (index < 3) assert.equal(mail.subject, words[index]?.replaceAll('=?', '= ?'))
      assert.equal(taken.to, 'ada@example.com')
    }
  })

  test('has a text and an HTML part, in any language', async () => {
    const peer = await peerOf()
    const words = { text: 'Zugänge – доступ\n.\n..\nFrom here', html: '<p>Zugänge – доступ 😀</p>' }
    await transportTo(peer).send({ ...letter, ...words }, patient)
    const [taken] = peer.taken
    assert.ok(taken !== undefined)
    const mail = await readMail(taken)
    assert.match(taken.raw, /^Content-Type: multipart\/alternative;/m)
    assert.equal(mail.text?.trimEnd(), words.text)
    assert.equal(mail.html?.trimEnd(), words.html)
    assert.deepEqual(mail.from, { name: 'Sallyport', address: 'sallyport@example.com' })
    assert.equal(mail.messageId, '<0197.0@example.com>')
  })

  test('may go to an internationalized domain', async () => {
    const peer = await peerOf()
    await transportTo(peer).send({ ...letter, to: 'ada@bücher.example' }, patient)
    assert.equal(peer.taken.length, 1)
  })

  test('reuses open connections, up to the configured number', async () => {
    const peer = await peerOf()
    const transport = transportTo(peer, { connections: 2 })
    const sent = await Promise.all(Array.from({ length: 20 }, () => transport.send(letter, patient)))
    assert.ok(sent.every(({ kind }) => kind === 'delivered'))
    assert.ok(peer.connections <= 2, `${peer.connections} connections`)
  })

  test('uses a new connection if the server has closed the open one', async () => {
    const peer = await peerOf()
    const transport = transportTo(peer)
    assert.equal((await transport.send(letter, patient)).kind, 'delivered')
    peer.hangUp()
    assert.equal((await transport.send(letter, patient)).kind, 'delivered')
  })
})

suite('a mail server that refuses', { concurrency: true }, () => {
  const cases: [string, MailStep, `${4 | 5}${string}`, RegExp, 'refused' | 'try_again'][] = [
    ['a recipient permanently', 'rcpt', '550 no such user', /refused the recipient: 550 .*no such user$/, 'refused'],
    ['a recipient temporarily: greylisting', 'rcpt', '451 greylisted', /recipient now: 451 /, 'try_again'],
    ['a busy mailbox', 'rcpt', '450 busy', /recipient now: 450 /, 'try_again'],
    ['a full mailbox', 'rcpt', '452 full', /recipient now: 452 /, 'try_again'],
    ['any recipient, because it does not relay,', 'rcpt', '557 relay access denied', /recipient now/, 'try_again'],
    ['any recipient before a login', 'rcpt', '530 log in first', /requires a login, or TLS, .*: 530 /, 'try_again'],
    ['any recipient in a broken session', 'rcpt', '503 not now', /recipient now: 503 /, 'try_again'],
    ['the text before a login', 'data', '530 log in first', /requires a login, or TLS, .*: 530 /, 'try_again'],
    ['a sender', 'mail', '553 not yours', /from this sender now: 553 /, 'try_again'],
    ['the text permanently, before it is sent,', 'data', '554 no', /refused the mail: 554 /, 'refused'],
    ['the text permanently', 'end', '554 spam', /refused the mail: 554 .*spam$/, 'refused'],
    ['the text temporarily', 'end', '451 come again', /the mail now: 451 /, 'try_again'],
    ['a mail of this size', 'mail', '552 too long', /a mail of this size: 552 /, 'refused'],
    ['every client', 'connect', '554 go away', /is not available now: 554 /, 'try_again'],
    ['every client temporarily', 'connect', '421 too busy', /421 /, 'try_again'],
    ['to continue', 'rcpt', '421 closing', /421 /, 'try_again'],
  ]
  for (const [name, step, answer, why, kind] of cases) {
    test(`${name} ${kind === 'refused' ? 'ends the delivery' : 'delays it and those behind it'} (F9)`, async () => {
      const peer = await peerOf()
      const transport = transportTo(peer)
      peer.behave = (at) => (at === step ? answer : 'go on')
      const outcome = await transport.send(letter, patient)
      assert.equal(outcome.kind, kind)
      assert.match('why' in outcome ? outcome.why : '', why)
      if (outcome.kind === 'try_again') assert.equal(outcome.holds_up, 'all')
      assert.equal(peer.taken.length, 0)
      peer.behave = () => 'go on'
      assert.equal((await transport.send(letter, patient)).kind, 'delivered')
    })
  }
})

suite('a failing mail server', { concurrency: true }, () => {
  for (const step of ['connect', 'mail', 'rcpt', 'data', 'end'] as const) {
    for (const how of ['close', 'hang', 'drip'] as const) {
      test(`causes a retry after ${how} at ${step} (F9)`, async () => {
        const peer = await peerOf()
        peer.behave = (at) => (at === step ? how : 'go on')
        const outcome = await transportTo(peer, {}, how === 'close' ? undefined : short).send(letter, patient)
        assert.equal(outcome.kind, 'try_again')
        assert.match('why' in outcome ? outcome.why : '', how === 'close' ? /closed|reached/ : /in time/)
        assert.equal(peer.taken.length, 0)
        // A server that has received the whole mail never gets it twice in one attempt.
        assert.ok(peer.steps.filter((at) => at === 'end').length <= 1)
      })
    }
  }

  test('causes a retry if it cannot be reached, and no tenant sees its address (F9)', async () => {
    const peer = await peerOf()
    await peer.stop()
    assert.deepEqual(await transportTo(peer).send(letter, patient), {
      kind: 'try_again',
      why: 'the mail server cannot be reached (ECONNREFUSED)',
      holds_up: 'all',
    })
  })

  test('does not delay the stop of the service', async () => {
    const peer = await peerOf()
    peer.behave = () => 'hang'
    const stopped = new AbortController()
    const sending = transportTo(peer).send(letter, stopped.signal)
    await until('the transport is connected', async () => peer.steps.length > 0)
    stopped.abort()
    assert.match(JSON.stringify(await sending), /the service was stopped during the attempt/)
  })

  test('delays a mail that waits for a connection only until a deadline', async () => {
    const peer = await peerOf()
    peer.behave = () => 'hang'
    const transport = transportTo(peer, { connections: 1 }, { session: 20_000, attempt: 20_000, queue: 50 })
    const stopped = new AbortController()
    const first = transport.send(letter, stopped.signal)
    const why = 'all connections to the mail server are busy with other mail of this service'
    const busy = { kind: 'try_again', why, holds_up: 'all', after_ms: 1_000 }
    assert.deepEqual(await transport.send(letter, patient), busy)
    stopped.abort()
    await first
  })
})

suite('a login', () => {
  const locked = (password = login.password) => ({ tls: 'never', login: { ...login, password } }) as const

  test('is sent to a server that requires one', async () => {
    const peer = await peerOf({ login })
    assert.equal((await transportTo(peer, locked()).send(letter, patient)).kind, 'delivered')
    assert.equal(peer.taken[0]?.user, 'sallyport')
  })

  test('that is missing causes a retry, because the operator can fix it (F9)', async () => {
    const peer = await peerOf({ login })
    const outcome = await transportTo(peer).send(letter, patient)
    assert.equal(outcome.kind, 'try_again')
    assert.match(JSON.stringify(outcome), /requires a login/)
  })

  test('that is wrong causes a retry, because the operator can fix it (F9)', async () => {
    const peer = await peerOf({ login })
    const outcome = await transportTo(peer, locked('wrong')).send(letter, patient)
    assert.equal(outcome.kind, 'try_again')
    assert.match(JSON.stringify(outcome), /refused the login: 535 /)
  })

  test('appears in no outcome, whatever the server answers (S3)', async () => {
    const peer = await peerOf({ login })
    const base64 = (text: string) => Buffer.from(text).toString('base64')
    const { user, password } = login
    const all = [password, base64(password), base64(`\0${user}\0${password}`), encodeURIComponent(password)]
    peer.behave = (step) => (step === 'rcpt' ? `550 you are ${all.join(' and ')}` : 'go on')
    const outcome = await transportTo(peer, locked()).send(letter, patient)
    assert.equal(outcome.kind, 'refused')
    for (const one of all) assert.ok(!JSON.stringify(outcome).includes(one), one)
    peer.behave = (step) => (step === 'login' ? `535 ${all.join(' and ')}` : 'go on')
    const second = await transportTo(peer, locked()).send(letter, patient)
    for (const one of all) assert.ok(!JSON.stringify(second).includes(one), one)
  })
})

const authority = makeAuthority()

suite('a TLS connection', { concurrency: true, skip: authority === undefined && 'there is no openssl' }, () => {
  if (authority === undefined) return
  setDefaultCACertificates([...getCACertificates('default'), authority.ca])
  const starttls = { tls: 'starttls', login } as const

  for (const tls of ['starttls', 'implicit'] as const) {
    test(`is made by ${tls} before login and mail are sent`, async () => {
      const peer = await peerOf({ tls, certificate: authority.good, login })
      assert.equal((await transportTo(peer, { tls, login }).send(letter, patient)).kind, 'delivered')
      assert.equal(peer.taken[0]?.secure, true)
    })

    const faulty: [string, Certificate, RegExp][] = [
      ['has expired', authority.expired, /CERT_HAS_EXPIRED/],
      ['is for another host', authority.misnamed, /ERR_TLS_CERT_ALTNAME_INVALID/],
      ['is self-signed', authority.selfSigned, /DEPTH_ZERO_SELF_SIGNED_CERT/],
    ]
    for (const [name, certificate, code] of faulty) {
      test(`by ${tls} with a certificate that ${name} is refused, and nothing is sent over it (F9)`, async () => {
        const peer = await peerOf({ tls, certificate, login })
        const outcome = await transportTo(peer, { tls, login }).send(letter, patient)
        assert.equal(outcome.kind, 'try_again')
        assert.match(JSON.stringify(outcome), code)
        assert.match(JSON.stringify(outcome), /certificate of the mail server is not trusted/)
        assert.deepEqual(
          peer.steps.filter((step) => step !== 'connect'),
          [],
        )
      })
    }
  }

  test('from the first byte fails if the server begins unencrypted, and no mail is sent (F9)', async () => {
    const peer = await peerOf({ tls: 'starttls', certificate: authority.good, login })
    const outcome = await transportTo(peer, { tls: 'implicit', login }).send(letter, patient)
    assert.equal(outcome.kind, 'try_again')
    assert.match(JSON.stringify(outcome), /did not set up TLS/)
    assert.deepEqual(peer.taken, [])
  })

  test('is required even if STARTTLS was stripped: no login and no mail is sent without it (F9)', async () => {
    const peer = await peerOf({ tls: 'stripped', login })
    const outcome = await transportTo(peer, starttls).send(letter, patient)
    assert.equal(outcome.kind, 'try_again')
    assert.match(JSON.stringify(outcome), /did not set up TLS/)
    assert.deepEqual(peer.steps, ['connect'])
  })
})

test('mails begin evenly at the configured rate', async () => {
  const peer = await peerOf()
  const transport = transportTo(peer, { per_second: 20 })
  const begun = performance.now()
  await Promise.all(Array.from({ length: 11 }, () => transport.send(letter, patient)))
  // Only a lower bound, because a busy machine takes longer.
  assert.ok(performance.now() - begun >= 480)
})
