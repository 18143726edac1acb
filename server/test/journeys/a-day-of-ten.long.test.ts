import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { AuditEvent } from '../../src/audit/audit-event.ts'
import { ageGrants } from '../support/age-grants.ts'
import type { Client, Page } from '../support/client.ts'
import { livedByTen } from '../support/day-of-ten-log.ts'
import { readMail, startMailPeer } from '../support/mail-peer.ts'
import { startOnTestServer } from '../support/sallyport.ts'
import { until } from '../support/wait.ts'
import { answered, type Grant, lineOf, type Made, refused } from '../support/working-day.ts'

/**
 * A day of ten people who have the role `user` or `approver` and nothing else, over HTTP only: they join by a link, find what to
 * request, request it, are given less, are given more time, and are notified by mail. Only time is passed by hand.
 */
const peer = await startMailPeer()
after(() => peer.stop())
const sallyport = await startOnTestServer({ SMTP_URL: peer.url, MAIL_FROM: 'sallyport@ops.example' })
const { bootstrap, client, asSuperuser } = sallyport
const owner = client({ api_key: bootstrap.api_key })

const users = ['Ada', 'Ben', 'Cleo', 'Dora', 'Emil', 'Fay', 'Gus'] as const
const approvers = ['Kim', 'Lou', 'Mia'] as const
type Name = (typeof users)[number] | (typeof approvers)[number]
const people = new Map<Name, { id: string; call: Client }>()
const words = new Map([[bootstrap.tenant_id, 'the tenant']])
const addressOf = (name: Name) => `${name.toLowerCase()}@acme.example`

function as(name: Name): Client {
  const person = people.get(name)
  assert.ok(person, `${name} has not joined`)
  return person.call
}

/** The mail to this person with these words in its subject, once it is there. */
async function mailTo(name: Name, subject: string) {
  return until(`${name} has the mail “${subject}”`, async () => {
    const taken = peer.taken.filter(({ to }) => to === addressOf(name))
    return (await Promise.all(taken.map(readMail))).find((mail) => mail.subject?.includes(subject))
  })
}

const production = '111122223333'
type AccessRequest = Made & {
  status: string
  duration_seconds: number
  approved_duration_seconds: number | null
  decided_by_name: string | null
}
async function ask(name: Name, action: string): Promise<string> {
  const body = {
    resource: { type: 'cloud_account', id: production },
    action,
    duration_seconds: 3_600,
    reason: 'INC-42',
  }
  const { id } = await answered(201, as(name)<AccessRequest>('POST', '/v1/requests', body))
  words.set(id, `${name}’s ${action}`)
  return id
}
async function grantOf(name: Name, request_id: string, status = 'active') {
  const grant = await until(`${name}’s grant is ${status}`, async () => {
    const url = `/v1/grants?request_id=${request_id}`
    return (await answered(200, as(name)<Page<Grant>>('GET', url))).data.find((one) => one.status === status)
  })
  words.set(grant.id, words.get(request_id)?.replace('’s', '’s granted') ?? '')
  return grant
}
/** Lets so many minutes pass for the grant. */
const pass = (minutes: number, grant_id: string) => ageGrants(asSuperuser, 'id', grant_id, minutes)

test('the owner sets up accounts and rules, and invites ten people', async () => {
  const account = { id: production, account_id: production, name: 'shop', metadata: { env: 'production' } }
  await answered(200, owner('PUT', '/v1/cloud/accounts', { resources: [account] }))
  const policy = await answered(201, owner<Made>('POST', '/v1/policies', { name: 'Every day' }))
  words.set(policy.id, 'Every day')
  const rules = [
    '@approval_mode("auto") permit (principal, action == Action::"Look", resource == cloud_account::"111122223333");',
    'permit (principal, action == Action::"Change", resource == cloud_account::"111122223333");',
  ]
  for (const policy_text of rules) {
    await answered(201, owner('POST', `/v1/policies/${policy.id}/rules`, { policy_text }))
  }
  for (const name of [...users, ...approvers]) {
    const roles = [users.some((one) => one === name) ? 'user' : 'approver']
    const body = { email: addressOf(name), name, roles }
    const { user_id } = await answered(201, owner<{ user_id: string }>('POST', '/v1/invitations', body))
    words.set(user_id, name)
  }
})

test('each joins by the link in their mail, and has one role', async () => {
  for (const name of [...users, ...approvers]) {
    const { text = '' } = await mailTo(name, 'invites you to Sallyport')
    const key = /#k=(\S+)/.exec(text)?.[1]
    const body = { key, password: `the four words of ${name}` }
    const { token } = await answered(200, client(undefined)<{ token: string }>('POST', '/v1/auth/invitation', body))
    const call = client({ token })
    type Me = Made & { roles: { id: string }[]; groups: unknown[]; email: string }
    const me = await answered(200, call<Me>('GET', '/v1/users/me'))
    const role = users.some((one) => one === name) ? 'user' : 'approver'
    assert.deepEqual([me.email, me.roles.map(({ id }) => id), me.groups], [addressOf(name), [role], []])
    people.set(name, { id: me.id, call })
  }
})

test('a user finds what they may request, and who may decide, and learns no more', async () => {
  type Entry = { resource: { id: string; name?: string }; action: string; approval_mode?: string }
  const { data } = await answered(200, as('Ada')<Page<Entry>>('GET', '/v1/catalogue?q=shop'))
  assert.deepEqual(data.map(({ action }) => action).sort(), ['Change', 'Look'])
  const wanted = { resource: { type: 'cloud_account', id: production }, action: 'Change', reason: 'INC-42' }
  type Preview = { may_decide: { names: string[] }; max_duration_seconds: number | null }
  const preview = await answered(200, as('Ada')<Preview>('POST', '/v1/requests/preview', wanted))
  for (const name of approvers) assert.ok(preview.may_decide.names.includes(name), `${name} may decide`)
  for (const path of ['/v1/policies', '/v1/groups', '/v1/users', '/v1/cloud/accounts', '/v1/audit-events']) {
    await refused(403, 'forbidden', as('Ada')('GET', path))
  }
})

let change = ''
let changed = { id: '' }

test('Ada asks, Kim asks back, narrows and approves, and each has it by mail', async () => {
  change = await ask('Ada', 'Change')
  for (const name of approvers) await mailTo(name, 'Ada requests Change on account shop (111122223333)')
  await answered(201, as('Kim')('POST', `/v1/requests/${change}/comments`, { text: 'For how long, really?' }))
  assert.match((await mailTo('Ada', 'Kim commented')).text ?? '', /“For how long, really\?”/)
  await answered(201, as('Ada')('POST', `/v1/requests/${change}/comments`, { text: 'Twenty minutes will do.' }))
  await mailTo('Kim', 'Ada commented on their own request')
  const approval = { duration_seconds: 1_200, reasoning: 'go ahead' }
  const decided = await answered(200, as('Kim')<AccessRequest>('POST', `/v1/requests/${change}/approve`, approval))
  assert.equal(decided.status, 'approved')
  const { text = '' } = await mailTo('Ada', 'Kim approved Change')
  assert.match(text, /go ahead/)
  changed = await grantOf('Ada', change)
  assert.match((await mailTo('Ada', 'Ada has Change')).text ?? '', /How to connect: /)
  const shown = await answered(200, as('Ada')<AccessRequest>('GET', `/v1/requests/${change}`))
  assert.deepEqual(
    [shown.duration_seconds, shown.approved_duration_seconds, shown.decided_by_name],
    [3_600, 1_200, 'Kim'],
  )
})

test('what a rule approves comes at once, and ends on time', async () => {
  const look = await ask('Ben', 'Look')
  const { id } = await grantOf('Ben', look)
  await mailTo('Ben', 'Ben has Look')
  await pass(60, id)
  await grantOf('Ben', look, 'expired')
})

test('others are denied, cancel, or are decided together', async () => {
  const [cleos, doras, emils, fays] = [
    await ask('Cleo', 'Change'),
    await ask('Dora', 'Change'),
    await ask('Emil', 'Change'),
    await ask('Fay', 'Change'),
  ]
  await answered(200, as('Mia')('POST', `/v1/requests/${cleos}/deny`, { reasoning: 'not today' }))
  assert.match((await mailTo('Cleo', 'Mia denied Change')).text ?? '', /not today/)
  await answered(204, as('Dora')('DELETE', `/v1/requests/${doras}`))
  const inbox = await answered(200, as('Lou')<Page<Made>>('GET', '/v1/requests?decidable_by=me'))
  assert.deepEqual(inbox.data.map(({ id }) => id).sort(), [emils, fays].sort())
  type Result = { id: string; status: number }
  const decisions = [
    { id: fays, decision: 'deny', reasoning: 'Emil does it' },
    { id: emils, decision: 'approve' },
  ]
  const { results } = await answered(
    200,
    as('Lou')<{ results: Result[] }>('POST', '/v1/requests/decisions', { decisions }),
  )
  assert.equal(results.length, 2)
  await mailTo('Fay', 'Lou denied Change')
  const { id } = await grantOf('Emil', emils)
  await mailTo('Emil', 'Emil has Change')
  await answered(200, as('Emil')('POST', `/v1/grants/${id}/revoke`, { reason: 'done' }))
  await grantOf('Emil', emils, 'revoked')
})

test('Gus looks once; he wants no mails of that, and gets none', async () => {
  const kinds = { access_active: { mail: false } }
  await answered(200, as('Gus')('PUT', '/v1/users/me/notification-preferences', { kinds }))
  const look = await ask('Gus', 'Look')
  const { id } = await grantOf('Gus', look)
  await pass(60, id)
  await grantOf('Gus', look, 'expired')
  type Item = { event_type: string }
  await until('Gus is notified', async () => {
    const { data } = await answered(200, as('Gus')<Page<Item>>('GET', '/v1/users/me/notifications'))
    return data.some(({ event_type }) => event_type === 'grant.expired')
  })
})

test('before her access ends, Ada has a mail, extends it, and it goes on until she gives it back', async () => {
  await pass(10, changed.id)
  const { text = '' } = await mailTo('Ada', 'Ends soon: Change')
  assert.match(text, new RegExp(`Extend it .*\n${bootstrap.base_url}/grants/${changed.id}\\?t=[0-9a-f-]{36}\n`))
  const extend = { duration_seconds: 600, reason: 'nearly there' }
  const extension = await answered(201, as('Ada')<AccessRequest>('POST', `/v1/grants/${changed.id}/extend`, extend))
  words.set(extension.id, 'Ada’s extension')
  await mailTo('Lou', 'Ada requests Change')
  await answered(200, as('Lou')('POST', `/v1/requests/${extension.id}/approve`, {}))
  const extending = await grantOf('Ada', extension.id)
  await pass(10, changed.id)
  await grantOf('Ada', change, 'expired')
  await answered(200, as('Ada')('POST', `/v1/grants/${extending.id}/revoke`, { reason: 'done' }))
  await grantOf('Ada', extension.id, 'revoked')
  const subjects = await Promise.all(peer.taken.map(async (taken) => (await readMail(taken)).subject ?? ''))
  assert.deepEqual(
    subjects.filter((subject) => /^(Ben|Gus) has Look/.test(subject)),
    ['Ben has Look on account shop (111122223333)'],
  )
})

test('the audit log has the day, and none of its words', async () => {
  const listed: AuditEvent[] = []
  for (let cursor: string | undefined = ''; cursor !== undefined; ) {
    const url: string = `/v1/audit-events?limit=200${cursor && `&cursor=${cursor}`}`
    const page: Page<AuditEvent> = await answered(200, owner<Page<AuditEvent>>('GET', url))
    listed.push(...page.data)
    cursor = page.next_cursor
  }
  const lines = listed.toReversed().map((event) => lineOf(event, words))
  const from = lines.findIndex((line) => line.endsWith('request.created Ada’s Change'))
  assert.deepEqual(lines.slice(from), livedByTen.trim().split('\n'))
  for (const name of [...users, ...approvers]) {
    for (const type of ['user.invited', 'user.joined', 'auth.signed_in']) {
      assert.ok(
        lines.some((line) => line.endsWith(`${type} ${name}`)),
        `${type} ${name}`,
      )
    }
  }
  const text = JSON.stringify(listed)
  for (const unsaid of ['@acme.example', 'the four words', 'How long', 'nearly there', 'go ahead']) {
    assert.ok(!text.includes(unsaid), `the log contains \`${unsaid}\``)
  }
})
