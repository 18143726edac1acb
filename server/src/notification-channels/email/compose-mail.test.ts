import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openHouse } from '../../../test/support/house.ts'
import { requestStage } from '../../../test/support/request-stage.ts'
import { newId } from '../../kernel/id.ts'
import type { Mail } from '../../mail/mail-layout.ts'
import { connectOf } from '../../provisioners/connect.ts'
import type { DeliveredEvent } from '../carrier.ts'
import type { EmailChannel } from '../email-channel.ts'
import { composeMail } from './compose-mail.flow.ts'

const house = await openHouse()
const acme = await requestStage(house, 'Acme')
const other = await house.tenant('Other')
const { owner, people, tenant_id } = acme
await acme.rule('permit (principal, action, resource);')
await acme.cache({ '123456789012': {} })
await acme.call(owner, 'PUT', '/v1/settings/timezone.default', { value: 'Asia/Tokyo' })

const body = { name: 'On call', to_addresses: ['oncall@example.com'], subject_prefix: '[acme]' }
const channel = (await acme.created(owner, '/v1/notification-channels/email', body)) as EmailChannel

const composed = (event: DeliveredEvent, tenant = tenant_id, recipient = 'oncall@example.com'): Promise<Mail> => {
  const delivery = { id: newId(), event, recipient, resends: 0 }
  return composeMail(house.database.tenant(tenant), channel, delivery, 'https://sallyport.example.com')
}

/** The events of the tenant, or those about one subject, as a channel gets them. */
const eventsOf = (subject_id: string | null) =>
  house.asSuperuser<DeliveredEvent>(
    `select id, type, to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at, actor_kind, actor_id,
      api_key_id, subject_type, subject_id, data, request_id from event where tenant_id = $1
        and ($2::text is null or subject_id = $2) order by seq`,
    [tenant_id, subject_id],
  )

/** An event that is not in the database, about a record that is. */
const event = (type: DeliveredEvent['type'], subject_id: string, data = {}): DeliveredEvent => ({
  ...{ id: newId(), type, at: '2026-03-01T20:05:09.120Z', request_id: 'test' },
  ...{ actor_kind: 'system', actor_id: null, api_key_id: null },
  ...{ subject_type: type.replace(/\..*/, ''), subject_id, data },
})

async function mailOf(type: string, subject_id: string): Promise<Mail> {
  const found = (await eventsOf(subject_id)).find((one) => one.type === type)
  assert.ok(found !== undefined, `no ${type}`)
  return composed(found)
}

suite('the mail about an event', () => {
  test('of a request names users and accounts, has times in the tenant’s zone, and links to the request', async () => {
    const id = await acme.ask(acme.account('123456789012', { reason: 'INC-42', duration_seconds: 5400 }))
    const requestMail = await mailOf('request.created', id)
    assert.equal(requestMail.subject, '[acme] user requests ReadOnly on account “account 123456789012” (123456789012)')
    assert.match(requestMail.text, /^Who: {4}user \(user@example\.com\)$/m)
    assert.match(requestMail.text, /^Reason: “INC-42”$/m)
    assert.match(requestMail.text, /^Asked: {2}\d{4}-\d\d-\d\d \d\d:\d\d UTC\+9 \(.*\d\d:\d\d UTC\)$/m)
    assert.match(
      requestMail.text,
      new RegExp(`^https://sallyport\\.example\\.com/requests/${id}\\?t=[0-9a-f-]{36}$`, 'm'),
    )
    assert.match(requestMail.text, /the channel “On call” of Sallyport is notified of request\.created/)
    await acme.approve(id)
    assert.match((await mailOf('request.approved', id)).subject, /approver approved ReadOnly on account .* for user$/)
    assert.match((await mailOf('request.created', id)).text, /^By now: approved by approver$/m)
  })

  test('of a comment says who commented, and never what', async () => {
    const id = await acme.ask(acme.account('123456789012', { reason: 'INC-44' }))
    await acme.created(people.approver, `/v1/requests/${id}/comments`, { text: 'said among us' })
    const { subject, text, html } = await mailOf('request.commented', id)
    assert.match(subject, /^\[acme\] approver commented on the request of user for ReadOnly on account/)
    assert.match(text, /^The comment is shown with the request\. The request waits for an approver until/m)
    for (const part of [subject, text, html]) assert.doesNotMatch(part, /said among us/)
  })

  test('of a grant names its holder, the reason of the request, and the target’s error', async () => {
    const id = await acme.approve(await acme.ask(acme.account('123456789012', { reason: 'INC-43' })))
    const [grant] = await house.asSuperuser<{ id: string }>(
      `update access_grant set status = 'failed', ended_at = now(), end_reason = 'its target refused it',
        last_error = 'no such role' where request_id = $1 returning id`,
      [id],
    )
    const { subject, text } = await composed(event('grant.failed', String(grant?.id)))
    assert.match(
      subject,
      /Failed: user could not be given ReadOnly on account “account 123456789012” \(123456789012\)$/,
    )
    assert.match(text, /^Target said: “no such role”$/m)
    assert.match(text, /^Reason: {6}“INC-43”$/m)
    assert.match(text, new RegExp(`/grants/${grant?.id}\\?t=[0-9a-f-]{36}$`, 'm'))
  })

  test('of an activation says how to connect to the holder, and to no other reader of the channel', async () => {
    const id = await acme.approve(await acme.ask(acme.account('123456789012')))
    const connect = connectOf({
      kind: 'postgresql',
      summary: 'Sign in as <b>yourself</b>.',
      links: [{ label: '<i>here</i>', url: 'https://a.example/?a=1&b="x"' }],
      commands: [{ label: 'psql', words: ['psql', "dbname=o'brien <x>"] }],
      files: [{ label: 'f', path: '~/.aws/config', lines: ['[profile <x>]', 'region = eu'] }],
    })
    const [grant] = await house.asSuperuser<{ id: string }>(
      `with kept as (
          insert into entitlement (tenant_id, id, provisioner, target_key, target, held_before, connect)
          values ($2, $3, 'sandbox', 'k', '{}', false, $4) returning id)
        update access_grant set status = 'active', provisioning_status = 'successful', activated_at = now(),
          expires_at = now() + interval '1 hour', entitlement_id = kept.id
        from kept where request_id = $1 returning access_grant.id`,
      [id, tenant_id, newId(), connect],
    )
    const activated = event('grant.activated', String(grant?.id))
    const own = await composed(activated, tenant_id, 'USER@example.com')
    const line = `psql 'dbname=o'\\''brien <x>'`
    assert.match(own.text, /^How to connect: Sign in as <b>yourself<\/b>\.$/m)
    assert.ok(own.text.includes(`In a shell (psql):\n    ${line}\n`), own.text)
    assert.ok(own.text.includes('Add to ~/.aws/config (f):\n    [profile <x>]\n    region = eu\n'))
    const escaped = line.replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll("'", '&#39;')
    assert.ok(own.html.includes(`<code>${escaped}</code>`), own.html)
    assert.ok(own.html.includes('<a href="https://a.example/?a=1&amp;b=&quot;x&quot;">&lt;i&gt;here&lt;/i&gt;</a>'))
    for (const recipient of ['oncall@example.com', 'approver@example.com', 'user@example.com.evil.example']) {
      const { text, html } = await composed(activated, tenant_id, recipient)
      assert.doesNotMatch(`${text}${html}`, /How to connect|brien/, recipient)
    }
  })

  test('of a record names the record, the actor and the subject, by id after their deletion', async () => {
    const group = await acme.created(owner, '/v1/groups', { name: 'Responders' })
    const member = { user_id: people.user.user_id }
    assert.equal((await acme.call(owner, 'POST', `/v1/groups/${group.id}/members`, member)).status, 201)
    const added = await mailOf('group.member_added', String(group.id))
    assert.match(added.subject, /Owner made user a member of the group Responders$/)
    assert.equal((await acme.call(owner, 'DELETE', `/v1/groups/${group.id}`)).status, 204)
    assert.match(
      (await mailOf('group.deleted', String(group.id))).subject,
      new RegExp(`deleted the group ${group.id}$`),
    )
    const tested = await composed(event('notification_channel.tested', channel.id))
    assert.equal(tested.subject, '[acme] A test of the channel “On call”')
  })

  test('of a suspension names user and actor with their addresses; that of any record names an actor’s API key', async () => {
    const person = { email: 'rob@example.com', name: 'Rob', roles: ['user'], auth_provider: 'oidc' }
    const user_id = String((await acme.created(owner, '/v1/users', person)).id)
    assert.equal((await acme.call(owner, 'POST', `/v1/users/${user_id}/suspend`)).status, 200)
    const [made, suspended] = [await mailOf('user.created', user_id), await mailOf('user.suspended', user_id)]
    const whom = 'the user Rob \\(rob@example\\.com\\)'
    assert.match(made.subject, new RegExp(`Owner created ${whom}$`))
    assert.match(suspended.subject, new RegExp(`Owner \\(owner@example\\.com\\) suspended ${whom} for 24 hours$`))
    const byKey = { actor_kind: 'api_key', actor_id: owner.user_id, api_key_id: newId() } as const
    const key = await composed({ ...event('user.created', user_id), ...byKey })
    assert.match(key.subject, new RegExp(`An API key of Owner created ${whom}$`))
  })

  test('has no missing values for any event, and explains an event without its own text', async () => {
    const events = await eventsOf(null)
    assert.ok(events.length > 15)
    for (const one of events) {
      const { subject, text, html } = await composed(one)
      assert.doesNotMatch(`${subject}${text}${html}`, /undefined|null|\[object/, one.type)
    }
    const { subject } = await composed(event('user.password_reset', people.user.user_id))
    assert.equal(subject, '[acme] user.password_reset: the operator gave a user a new password')
  })

  test('contains no data of another tenant (T14)', async () => {
    const { subject, text } = await composed(event('user.updated', people.user.user_id), other.tenant_id)
    assert.doesNotMatch(`${subject}${text}`, /user@example\.com/)
    const strange = await composed(
      event('request.created', await acme.ask(acme.account('123456789012'))),
      other.tenant_id,
    )
    assert.equal(strange.subject, '[acme] request.created: a user requested access')
  })
})
