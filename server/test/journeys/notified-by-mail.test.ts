import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, suite, test } from 'node:test'
import { makeAuthority } from '../support/certificates.ts'
import { type MailPeer, readMail, startMailPeer } from '../support/mail-peer.ts'
import { type Sallyport, startOnTestServer, startScript, urlOf } from '../support/sallyport.ts'
import { until } from '../support/wait.ts'

/** From a request to a mail: the service as a process, and a mail server that requires TLS and a login. */
const login = { user: 'sallyport@ops.example', password: 'hunter2/+=@ü' }
const authority = makeAuthority()

/** A service whose mail goes to the peer, configured as an operator would. */
async function startWithMail({ port }: MailPeer, ca: string) {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-authority-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'ca.pem')
  writeFileSync(path, ca)
  const { user, password } = login
  return startOnTestServer({
    SMTP_URL: `smtp://${encodeURIComponent(user)}:${encodeURIComponent(password)}@127.0.0.1:${port}`,
    SMTP_TLS: 'always',
    MAIL_FROM: 'sallyport@ops.example',
    NODE_EXTRA_CA_CERTS: path,
    PUBLIC_URL: 'https://sallyport.ops.example',
  })
}

/** A rule that permits every request. */
async function permitAll(key: ReturnType<Sallyport['client']>) {
  const policy = await key<{ id: string }>('POST', '/v1/policies', { name: 'all' })
  const rule = await key('POST', `/v1/policies/${policy.body.id}/rules`, { effect: 'permit' })
  assert.equal(rule.status, 201)
}

suite('a request', { skip: authority === undefined && 'there is no openssl' }, async () => {
  if (authority === undefined) return
  const peer = await startMailPeer({ tls: 'starttls', certificate: authority.good, login })
  after(() => peer.stop())
  const sallyport = await startWithMail(peer, authority.ca)
  const key = sallyport.client({ api_key: sallyport.bootstrap.api_key })
  await permitAll(key)
  const ada = await sallyport.join('Ada', ['user'])
  const wanted = { resource: { type: 'cloud_account', id: '123456789012' }, action: 'ReadOnlyAccess', reason: 'a look' }
  const channel = (name: string, ...to_addresses: string[]) =>
    key<{ id: string }>('POST', '/v1/notification-channels/email', {
      name,
      to_addresses,
      subject_prefix: '[ops]',
      event_filters: ['request.created'],
    })

  test('is mailed to each mailbox of a channel separately, over TLS and after a login', async () => {
    await channel('On call', 'oncall@ops.example', 'archive@ops.example')
    const created = await ada.call<{ id: string }>('POST', '/v1/requests', wanted)
    assert.equal(created.status, 201)
    const taken = await until('two mails', async () => peer.taken.length === 2 && peer.taken)
    assert.deepEqual(taken.map(({ to }) => to).sort(), ['archive@ops.example', 'oncall@ops.example'])
    for (const one of taken) {
      assert.deepEqual([one.secure, one.user, one.from], [true, login.user, 'sallyport@ops.example'])
      const mail = await readMail(one)
      assert.deepEqual(mail.to, [{ name: '', address: one.to }])
      assert.match(mail.subject ?? '', /^\[ops\] ./)
      assert.ok(mail.text?.includes(created.body.id), mail.text)
      assert.ok(mail.html?.includes(created.body.id))
    }
  })

  test('to a refused mailbox fails visibly, and the login is neither stored nor logged (S3)', async () => {
    const { user, password } = login
    const base64 = (text: string) => Buffer.from(text).toString('base64')
    const secrets = [password, base64(password), base64(`\0${user}\0${password}`), encodeURIComponent(password)]
    peer.behave = (step, { to }) =>
      step === 'rcpt' && to.startsWith('gone@') ? `550 gone ${secrets.join(' ')}` : 'go on'
    await channel('Gone', 'gone@ops.example')
    await ada.call('POST', '/v1/requests', { ...wanted, action: 'Other' })
    const [failed] = await until('the delivery failed', async () => {
      const rows = await sallyport.asSuperuser<{ last_error: string; attempts: number }>(
        `select last_error, attempts from delivery where status = 'failed'`,
      )
      return rows.length > 0 && rows
    })
    assert.equal(failed?.attempts, 1)
    assert.match(failed?.last_error ?? '', /^the mail server refused the recipient: 550 5\.1\.1 gone \[redacted\]/)
    for (const secret of secrets) {
      assert.ok(!JSON.stringify(failed).includes(secret))
      assert.ok(!sallyport.output().includes(secret))
    }
  })

  test('to a greylisted mailbox is mailed on the retry, in the order of the events (F9)', async () => {
    peer.behave = (step, { to }) => (step === 'rcpt' && to.startsWith('grey@') ? '451 come again' : 'go on')
    await channel('Grey', 'grey@ops.example')
    const requestIds: string[] = []
    for (const action of ['First', 'Second']) {
      requestIds.push((await ada.call<{ id: string }>('POST', '/v1/requests', { ...wanted, action })).body.id)
    }
    const waiting = () =>
      sallyport.asSuperuser(
        `select d.id from delivery d join delivery_lane l on l.tenant_id = d.tenant_id and l.id = d.lane_id
          where l.recipient = 'grey@ops.example' and l.failures > 0 order by d.xid, d.seq`,
      )
    await until('both deliveries wait', async () => (await waiting()).length === 2)
    peer.behave = () => 'go on'
    const mails = () => peer.taken.filter(({ to }) => to === 'grey@ops.example')
    await until('both mails are sent', async () => {
      await sallyport.asSuperuser(`update delivery_lane set next_look_at = clock_timestamp()
        where failures > 0 and next_look_at > clock_timestamp()`)
      return mails().length === 2
    })
    const texts = await Promise.all(mails().map(async (one) => (await readMail(one)).text ?? ''))
    assert.ok(requestIds.every((id, index) => texts[index]?.includes(id)))
  })

  test('comes from the tenant’s own address once the operator’s command has set it (J8)', async () => {
    const own = { to_addresses: ['own@ops.example'], from_address: 'access@acme.example' }
    const made = await key('POST', '/v1/notification-channels/email', { name: 'Own', ...own })
    assert.equal(made.status, 201)
    const sender = async (number: number) => {
      await key('POST', '/v1/groups', { name: `group ${number}` })
      const mails = () => peer.taken.filter(({ to }) => to === 'own@ops.example')
      await until('the mail is sent', async () => mails().length === number)
      return mails().at(-1)?.from
    }
    assert.equal(await sender(1), 'sallyport@ops.example')
    const env = { DATABASE_URL: urlOf(sallyport.service), DATA_DIR: sallyport.data_dir }
    const words = ['mail-domain', 'add', sallyport.bootstrap.tenant_id, 'Acme.example']
    const command = startScript('admin', words, env)
    assert.equal(await command.end(), 0, command.output())
    assert.match(command.output(), /the tenant may now send mail from addresses of `acme\.example`/)
    assert.equal(await sender(2), 'access@acme.example')
  })
})
