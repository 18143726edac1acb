import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openHouse, type Person } from '../../test/support/house.ts'
import { notifyAll } from '../../test/support/notify-all.ts'
import { requestStage } from '../../test/support/request-stage.ts'
import { newId } from '../kernel/id.ts'

const house = await openHouse()
const on = await requestStage(house, 'not notified')
const { tenant_id, owner, people } = on
await on.rule('permit (principal, action == Action::"approve", resource);')
await on.rule('permit (principal, action == Action::"ReadOnly", resource);')
await on.rule('@approval_mode("break_glass") permit (principal, action == Action::"Admin", resource);')
const body = on.account('600000000001')
const lead = String((await on.created(owner, '/v1/roles', { name: 'Lead', scopes: ['requests:approve'] })).id)

async function give(group: string, role: string): Promise<string> {
  const reply = await on.call(owner, 'PUT', `/v1/groups/${group}/role-mappings`, { role_ids: [role] })
  assert.equal(reply.status, 200, reply.text)
  return group
}

async function group(role: string, members_notified: boolean): Promise<string> {
  return give(String((await on.created(owner, '/v1/groups', { name: role, members_notified })).id), role)
}

/** A group as a directory would have written it, whose members are not notified. */
async function syncedGroup(role: string): Promise<string> {
  const id = newId()
  await house.asSuperuser(
    `insert into tenant_group (tenant_id, id, name, source) values ($1, $2, 'of the directory', 'scim')`,
    [tenant_id, id],
  )
  const reply = await on.call(owner, 'PATCH', `/v1/groups/${id}`, { members_notified: false })
  assert.equal(reply.status, 200, reply.text)
  return give(id, role)
}

const groups = {
  notified: await group('approver', true),
  muted: await group('approver', false),
  muted_lead: await group(lead, false),
  synced: await syncedGroup('approver'),
  notified_auditor: await group('auditor', true),
  muted_auditor: await group('auditor', false),
}
type GroupName = keyof typeof groups

/** A membership, as the group's source writes it: `ended` and `current` by a claim. */
type Membership = GroupName | { [state in 'ended' | 'current']?: GroupName }

/** How a user holds the right to decide: own roles, groups, and whether the user is notified. */
const table: [who: string, roles: string[], memberships: Membership[], notified: boolean][] = [
  ['themselves', ['approver'], [], true],
  ['themselves, and by a muted group', ['approver'], ['muted'], true],
  ['by a role of the tenant themselves, and by a muted group', [lead], ['muted'], true],
  ['by a notified group', [], ['notified'], true],
  ['by a muted group', [], ['muted'], false],
  ['by a muted group with a role of the tenant', [], ['muted_lead'], false],
  ['by two muted groups', [], ['muted', 'muted_lead'], false],
  ['by a muted and a notified group', [], ['muted', 'notified'], true],
  ['by a muted group, and another role themselves', ['auditor'], ['muted'], false],
  ['by a muted group, and another role by a notified group', [], ['muted', 'notified_auditor'], false],
  ['by a notified group, and another role by a muted group', [], ['notified', 'muted_auditor'], true],
  ['by a muted group, and a notified one that they are in no longer', [], ['muted', { ended: 'notified' }], false],
  ['by a muted group, and a notified one by a claim that counts', [], ['muted', { current: 'notified' }], true],
  ['by a notified group, and a muted one that they are in no longer', [], ['notified', { ended: 'muted' }], true],
  ['by a muted group of a directory', [], ['synced'], false],
  ['by a muted group of a directory, and a notified group', [], ['synced', 'notified'], true],
]

async function member(user_id: string, group_id: string, left: string | null): Promise<void> {
  await house.asSuperuser(
    `insert into group_member (tenant_id, group_id, user_id, membership_source, mapping_id, given_at, expires_at)
      select $1, $2, $3, 'identity_provider', case when $4::text is not null then gen_random_uuid() end,
        case when $4::text is not null then now() - interval '1 day' end, now() + $4::interval`,
    [tenant_id, group_id, user_id, left],
  )
}

async function approver(name: string, roles: readonly string[], memberships: readonly Membership[]): Promise<Person> {
  const user = { name, email: `${newId()}@example.com`, auth_provider: 'oidc', roles: ['user'] }
  const user_id = String((await on.created(owner, '/v1/users', user)).id)
  const given = await on.call(owner, 'PUT', `/v1/users/${user_id}/roles`, { roles: ['user', ...roles] })
  assert.equal(given.status, 200, given.text)
  for (const one of memberships) {
    if (typeof one === 'string') await member(user_id, groups[one], null)
    else if (one.ended !== undefined) await member(user_id, groups[one.ended], '-1 hour')
    else if (one.current !== undefined) await member(user_id, groups[one.current], '1 day')
  }
  return house.person(tenant_id, user_id)
}

const approvers: (Person & { who: string; notified: boolean })[] = []
for (const [who, roles, memberships, notified] of table) {
  approvers.push({ ...(await approver(who, roles, memberships)), who, notified })
}
const named = (who: string) => approvers.find((one) => one.who === who) ?? assert.fail(who)
const muted = named('by a muted group')

/** Which of the approvers of the table were notified of an event of this request. */
async function notifiedOf(request_id: string, event_type: string): Promise<string[]> {
  await notifyAll(house)
  const rows = await house.asSuperuser<{ user_id: string }>(
    'select user_id from notification where tenant_id = $1 and resource_id = $2 and event_type = $3',
    [tenant_id, request_id, event_type],
  )
  const found = new Set(rows.map(({ user_id }) => user_id))
  for (const { user_id } of [owner, people.admin, people.approver]) assert.ok(found.has(user_id), 'all by themselves')
  return approvers.flatMap(({ user_id, who }) => (found.has(user_id) ? [who] : []))
}

const expected = approvers.flatMap(({ who, notified }) => (notified ? [who] : []))
const everyone = approvers.map(({ who }) => who)

const deeds: [what: string, event_type: string, happens: (request_id: string) => Promise<unknown>][] = [
  ['a request', 'request.created', async () => undefined],
  [
    'a reminder',
    'request.reminded',
    async (id) => assert.equal((await on.call(people.user, 'POST', `/v1/requests/${id}/remind`, {})).status, 200),
  ],
  [
    'a comment of the requester',
    'request.commented',
    (id) => on.created(people.user, `/v1/requests/${id}/comments`, { text: 'please' }),
  ],
]

suite('those who may decide by muted groups alone', () => {
  for (const [what, event_type, happens] of deeds) {
    test(`are not notified of ${what}, and all others are`, async () => {
      const id = await on.ask(body)
      await happens(id)
      assert.deepEqual(await notifiedOf(id, event_type), expected)
    })
  }

  test('are notified of an emergency', async () => {
    const emergency = on.account('600000000001', { action: 'Admin', break_glass: true, reason: 'the site is down' })
    assert.deepEqual(await notifiedOf(await on.ask(emergency), 'request.break_glass'), everyone)
  })

  test('decide as all others: they have the request in their inbox, are among its deciders, and approve it', async () => {
    const id = await on.ask(body)
    const inbox = await on.call(muted, 'GET', '/v1/requests?decidable_by=me&limit=100')
    assert.ok((inbox.body.data as { id: string }[]).some((one) => one.id === id))
    const all = approvers.length + [owner, people.admin, people.approver].length
    assert.equal((await on.call(people.user, 'GET', `/v1/requests/${id}/deciders`)).body.count, all)
    const preview = await on.call(people.user, 'POST', '/v1/requests/preview', body)
    assert.equal((preview.body.may_decide as { count: number }).count, all)
    assert.equal((await on.call(muted, 'POST', `/v1/requests/${id}/approve`, {})).status, 200)
  })

  test('are notified of answers to their own requests', async () => {
    const id = await on.ask(body, muted)
    await on.created(people.approver, `/v1/requests/${id}/comments`, { text: 'why?' })
    await on.approve(id)
    await notifyAll(house)
    const rows = await house.asSuperuser<{ event_type: string }>(
      'select event_type from notification where tenant_id = $1 and resource_id = $2 and user_id = $3 order by 1',
      [tenant_id, id, muted.user_id],
    )
    assert.deepEqual(
      rows.map(({ event_type }) => event_type),
      ['request.approved', 'request.commented'],
    )
  })

  test('are notified once the group is switched, by an event after it', async () => {
    const url = `/v1/groups/${groups.muted_lead}`
    const who = 'by a muted group with a role of the tenant'
    const change = async (members_notified: boolean) =>
      assert.equal((await on.call(owner, 'PATCH', url, { members_notified })).status, 200)
    await change(true)
    assert.ok((await notifiedOf(await on.ask(body), 'request.created')).includes(who))
    await change(false)
    assert.ok(!(await notifiedOf(await on.ask(body), 'request.created')).includes(who))
  })
})
