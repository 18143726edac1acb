import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { TestTenant } from '../../test/support/house.ts'
import { openMailHouse, public_url } from '../../test/support/mail-house.ts'
import { readMail } from '../../test/support/mail-peer.ts'
import { until } from '../../test/support/wait.ts'
import { newId } from '../kernel/id.ts'
import { openSealer } from '../secrets/sealer.ts'
import { maxMails } from './invitation.ts'
import { mailInvitation } from './mail-invitation.job.ts'

/** The mail of an invitation carries a link of its own, whose use proves the address. */
const { peer, house, startMailing } = await openMailHouse((mailing, { rootKeys }) =>
  mailInvitation({ ...mailing, sealer: openSealer(rootKeys) }),
)

const as = ({ tenant_id, owner }: TestTenant, method: string, url: string, body?: unknown) =>
  house.call({ method, url, token: owner.token, tenant_id, ...(body !== undefined && { body }) })
type Made = { id: string; user_id: string; email: string; url: string; mail: { state: string; error?: string } }
async function invite(tenant: TestTenant, more: object = {}) {
  const body = { email: `${newId()}@example.com`, name: 'Ben', roles: ['user'], ...more }
  const reply = await as(tenant, 'POST', '/v1/invitations', body)
  assert.equal(reply.status, 201, reply.text)
  return reply.body as Made
}
const mailOf = async (tenant: TestTenant, { user_id }: Made) => {
  const { body } = await as(tenant, 'GET', `/v1/users/${user_id}/invitations`)
  return (body.data as { mail: { state: string; error?: string; sent_at?: string } }[])[0]?.mail
}
const becomes = (tenant: TestTenant, made: Made, state: string) =>
  until(`the mail is ${state}`, async () => {
    const mail = await mailOf(tenant, made)
    return mail?.state === state && mail
  })
const takenFor = ({ email }: Made) => peer.taken.filter(({ to }) => to === email)
async function linkTo(made: Made) {
  const [taken] = takenFor(made)
  assert.ok(taken)
  const mail = await readMail(taken)
  const links = mail.text?.match(/https?:\/\/\S+/g) ?? []
  assert.equal(links.length, 1, mail.text)
  return { mail, taken, link: String(links[0]) }
}
const use = (link: string) => {
  const body = { key: link.split('#k=')[1], password: 'four random words here' }
  return house.call({ method: 'POST', url: '/v1/auth/invitation', body })
}
const stored = async ({ id }: Made) =>
  (
    await house.asSuperuser<{ sealed_secrets: string | null; attempts: number; last_error: string | null }>(
      'select sealed_secrets, attempts, last_error from invitation_mail where id = $1',
      [id],
    )
  )[0]
/** Has a mail that waits for its next attempt begin it now. */
const hurry = ({ id }: Made) =>
  house.asSuperuser('update invitation_mail set next_look_at = now() where id = $1 and next_look_at is not null', [id])

suite('the mail of an invitation', () => {
  test('goes to its address alone, and its link proves the address where that of the inviter does not', async () => {
    const acme = await house.tenant('Acme')
    const made = await invite(acme)
    assert.deepEqual(made.mail, { state: 'pending' })
    startMailing()
    const { sent_at } = await becomes(acme, made, 'sent')
    assert.ok(sent_at)
    const { mail, link } = await linkTo(made)
    assert.equal(mail.subject, 'Acme invites you to Sallyport')
    assert.deepEqual(mail.to, [{ name: '', address: made.email }])
    assert.match(mail.text ?? '', /Invited by: +Owner/)
    assert.match(mail.text ?? '', /The link works until: +\d{4}-\d\d-\d\d \d\d:\d\d UTC/)
    assert.match(mail.text ?? '', /This is a rehearsal/)
    assert.ok(mail.html?.includes(`href="${link}"`))
    assert.ok(link.startsWith(`${public_url}/console/invitation#k=`))
    assert.notEqual(link, made.url)
    assert.equal((await stored(made))?.sealed_secrets, null)
    assert.equal((await use(link)).status, 200)
    assert.equal((await use(made.url)).status, 401)
    const { body } = await as(acme, 'GET', `/v1/users/${made.user_id}`)
    assert.equal(body.email_verified, true)
    assert.equal(takenFor(made).length, 1)
  })

  test('has no name that forges a header or a line of it (J8)', async () => {
    const acme = await house.tenant('Bcc: all@example.com')
    const made = await invite(acme, { name: '</td><a href="https://evil.example">“Ben”' })
    startMailing()
    await becomes(acme, made, 'sent')
    const { mail, taken } = await linkTo({ ...made })
    const headers = mail.headers.map(({ key }) => key).sort()
    const expected = ['auto-submitted', 'content-type', 'date', 'from', 'message-id', 'mime-version', 'subject', 'to']
    assert.deepEqual(headers, [...expected, 'x-auto-response-suppress'].sort())
    assert.equal(taken.to, made.email)
    assert.doesNotMatch(`${mail.text}${mail.html}`, /evil\.example/)
  })

  test('is tried again with the same id, and given up when the server refuses the recipient', async () => {
    const acme = await house.tenant('Acme')
    peer.behave = (step, { to }) => {
      if (step === 'rcpt' && to.startsWith('gone')) return '550 no such mailbox'
      return step === 'end' && peer.steps.filter((one) => one === 'end').length === 1 ? 'swallow' : 'go on'
    }
    const gone = await invite(acme, { email: 'gone@example.com' })
    startMailing()
    assert.match((await becomes(acme, gone, 'failed')).error ?? '', /refused the recipient/)
    assert.deepEqual([(await stored(gone))?.sealed_secrets, (await stored(gone))?.attempts], [null, 1])
    peer.behave = (step) => (step === 'rcpt' ? '451 later' : 'go on')
    const made = await invite(acme)
    await until('an attempt has failed', async () => (await stored(made))?.last_error !== null)
    assert.equal((await mailOf(acme, made))?.state, 'pending')
    peer.behave = () => 'go on'
    await hurry(made)
    await becomes(acme, made, 'sent')
    const { mail } = await linkTo(made)
    assert.equal(mail.messageId, `<${made.id}@ops.example>`)
    assert.equal((await stored(made))?.attempts, 2)
  })

  test('is given up after a bounded number of attempts', async () => {
    const acme = await house.tenant('Acme')
    peer.behave = (step) => (step === 'rcpt' ? '451 later' : 'go on')
    const made = await invite(acme)
    await house.asSuperuser('update invitation_mail set attempts = 19 where id = $1', [made.id])
    startMailing()
    await becomes(acme, made, 'failed')
    assert.deepEqual([(await stored(made))?.sealed_secrets, (await stored(made))?.attempts], [null, 20])
  })

  test('waits longer each time, and is given up in the end, where the service itself fails at it', async () => {
    const acme = await house.tenant('Acme')
    const [early, last, died] = [await invite(acme), await invite(acme), await invite(acme)]
    for (const [{ id }, attempts] of [
      [early, 10],
      [last, 19],
    ] as const) {
      // The secret of another row does not open here.
      await house.asSuperuser(
        `update invitation_mail set attempts = $2::integer,
          sealed_secrets = (select sealed_secrets from invitation_mail where id = $3) where id = $1`,
        [id, attempts, died.id],
      )
    }
    await house.asSuperuser('update invitation_mail set attempts = 20 where id = $1', [died.id])
    const workers = startMailing()
    for (const made of [last, died])
      assert.match((await becomes(acme, made, 'failed')).error ?? '', /its log says why$/)
    await until('an attempt has failed', async () => (await stored(early))?.last_error !== null)
    assert.equal((await mailOf(acme, early))?.state, 'pending')
    await workers.stop().catch(() => undefined)
    assert.equal(workers.faults.splice(0).length, 2)
    const [due] = await house.asSuperuser<{ later: boolean }>(
      `select next_look_at > now() + interval '10 minutes' as later from invitation_mail where id = $1`,
      [early.id],
    )
    assert.deepEqual([due?.later, (await stored(early))?.attempts], [true, 11])
    assert.deepEqual([(await stored(last))?.sealed_secrets, (await stored(last))?.attempts], [null, 20])
    for (const made of [early, last, died]) assert.deepEqual(takenFor(made), [])
  })

  test('is not sent for an invitation that was used, revoked or replaced, or whose user is deleted; its secret is erased', async () => {
    const acme = await house.tenant('Acme')
    const ways: ((made: Made) => ReturnType<typeof use>)[] = [
      (made) => use(made.url),
      (made) => as(acme, 'DELETE', `/v1/users/${made.user_id}/invitations/${made.id}`),
      (made) => as(acme, 'DELETE', `/v1/users/${made.user_id}`),
      (made) => as(acme, 'POST', `/v1/users/${made.user_id}/invitations`),
    ]
    const all: Made[] = []
    for (const way of ways) {
      const made = await invite(acme)
      assert.ok((await way(made)).status < 300)
      assert.equal((await stored(made))?.sealed_secrets, null)
      assert.match((await stored(made))?.last_error ?? '', /before the mail was sent$/)
      all.push(made)
    }
    const expired = await invite(acme)
    await house.asSuperuser('update invitation set expires_at = now() where id = $1', [expired.id])
    startMailing()
    await becomes(acme, expired, 'failed')
    // The replaced link was not mailed, and the one in its place was.
    const last = all.pop()
    assert.ok(last)
    await becomes(acme, last, 'sent')
    assert.equal((await use((await linkTo(last)).link)).status, 200)
    for (const made of [...all, expired]) assert.deepEqual(takenFor(made), [])
  })

  test('is at rest only as a hash and sealed to its row', async () => {
    const acme = await house.tenant('Acme')
    const made = await invite(acme)
    const { sealed_secrets } = (await stored(made)) ?? {}
    assert.ok(sealed_secrets)
    const tx = house.database.tenant(acme.tenant_id)
    const place = { table: 'invitation_mail', id: made.id, field: 'sealed_secrets' }
    const key = await openSealer(house.rootKeys).unseal(tx, sealed_secrets, place)
    const rows = await house.asSuperuser<{ text: string }>(
      'select (i, m)::text as text from invitation i join invitation_mail m using (tenant_id, id) where id = $1',
      [made.id],
    )
    const secret = Buffer.from(key, 'base64url').subarray(32)
    for (const form of ['hex', 'base64', 'base64url'] as const) {
      assert.ok(!rows[0]?.text.includes(secret.toString(form)))
    }
    await assert.rejects(openSealer(house.rootKeys).unseal(tx, sealed_secrets, { ...place, id: newId() }))
  })

  test('is limited for an address and for a tenant, however many are made at once; the link is made all the same', async () => {
    const { to_address_a_day, of_tenant_an_hour } = maxMails
    const acme = await house.tenant('Acme')
    const made = await invite(acme)
    const again = async () => (await as(acme, 'POST', `/v1/users/${made.user_id}/invitations`)).body as Made
    await house.asSuperuser('update invitation_mail set attempts = 1 where id = $1', [made.id])
    for (let nth = 1; nth < to_address_a_day; nth += 1) {
      const one = await again()
      assert.equal(one.mail.state, 'pending')
      await house.asSuperuser('update invitation_mail set attempts = 1 where id = $1', [one.id])
    }
    const over = await again()
    assert.deepEqual(over.mail.state, 'failed')
    assert.match(over.mail.error ?? '', /this address got as many invitations/)
    assert.equal((await use(over.url)).status, 200)

    const left = 3
    await house.asSuperuser(
      `with filler as (insert into invitation (tenant_id, id, user_id, secret_hash, vouched_scopes, ended_as, ended_at)
          select $1, gen_random_uuid(), $2, sha256('x'), '{}', 'used', now() from generate_series(1, $3::integer)
          returning tenant_id, id)
        insert into invitation_mail (tenant_id, id, email_key, state, attempts, sent_at)
          select tenant_id, id, 'x', 'sent', 1, now() from filler`,
      [acme.tenant_id, acme.owner.user_id, of_tenant_an_hour - to_address_a_day - left],
    )
    const many = await Promise.all(Array.from({ length: left + 4 }, () => invite(acme)))
    assert.equal(many.filter(({ mail }) => mail.state === 'pending').length, left)
    assert.match(many.find(({ mail }) => mail.state === 'failed')?.mail.error ?? '', /of this hour/)
    // Another tenant's mails are counted apart.
    assert.equal((await invite(await house.tenant('Other'))).mail.state, 'pending')
  })

  test('is limited for an address although the user’s old invitations are deleted meanwhile', async () => {
    const tenant = await house.tenant('many')
    const made = await invite(tenant)
    startMailing()
    const isSettled = async () => {
      const waiting = 'select from invitation_mail where tenant_id = $1 and next_look_at is not null'
      return (await house.asSuperuser(waiting, [tenant.tenant_id])).length === 0
    }
    for (let nth = 0; nth < 50; nth += 1) {
      await until('the mail is sent', isSettled)
      assert.equal((await as(tenant, 'POST', `/v1/users/${made.user_id}/invitations`)).status, 201)
    }
    await until('the last mail is sent', isSettled)
    assert.equal(takenFor(made).length, maxMails.to_address_a_day)
  })
})
