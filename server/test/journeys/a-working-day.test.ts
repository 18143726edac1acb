import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { AuditEvent } from '../../src/audit/audit-event.ts'
import type { Page } from '../support/client.ts'
import { redirect_uri } from '../support/sign-in-stage.ts'
import { until } from '../support/wait.ts'
import { answered, type Grant, type Made, type Name, openWorkingDay, refused } from '../support/working-day.ts'
import { lived } from '../support/working-day-log.ts'

type Named = Made & { name: string }
type AccessRequest = Made & { status: string; decided_by: string | null }

/** A whole working day, over HTTP only, in chronological order. */
const day = await openWorkingDay()
const { as, idOf, words, make, invite, heldAtTarget, grantOf, untilNotified } = day

const production = '111122223333'
const asking = (action: string, more: object = {}) => ({
  resource: { type: 'cloud_account', id: production },
  action,
  reason: 'every day',
  duration_seconds: 600,
  ...more,
})

test('the owner sets up sign-in by the provider, and a first admin signs in', async () => {
  await day.enterOwner()
  const wanted = { ...day.provider, redirect_uris: [redirect_uri] }
  const shown = await answered(200, as('Owner')('PUT', '/v1/settings/sign-in', wanted))
  assert.deepEqual([shown.issuer, shown.client_secret], [wanted.issuer, '[redacted]'])
  await invite('Owner', 'Olga', ['admin'])
})

test('the admin invites people, and each signs in', async () => {
  for (const name of ['Ada', 'Ben', 'Cleo', 'Dora'] as const) await invite('Olga', name, ['user'])
  const { data } = await answered(200, as('Olga')<Page<Named>>('GET', '/v1/users'))
  const there = data.map(({ name }) => name)
  for (const name of ['Olga', 'Ada', 'Ben', 'Cleo', 'Dora']) assert.ok(there.includes(name), `${name} is not listed`)
  await refused(403, 'forbidden', as('Ada')('GET', '/v1/users'))
})

let engineers = ''
let onDuty = ''

test('users join groups, and a group gives them a role of the tenant', async () => {
  type Role = Made & { blast_radius: { level: string; reasons: string[] } }
  const scopes = ['requests:read', 'requests:approve', 'grants:read']
  const role_id = await make('Olga', '/v1/roles', { name: 'Duty officer', scopes }, 'Duty officer')
  const url = `/v1/roles/${role_id}`
  const small = { level: 'high', reasons: ['`requests:approve` decides the access of others'] }
  assert.deepEqual((await answered(200, as('Olga')<Role>('GET', url))).blast_radius, small)
  const wider = await answered(200, as('Olga')<Role>('PATCH', url, { scopes: [...scopes, 'policies:write'] }))
  assert.deepEqual(wider.blast_radius, { level: 'critical', reasons: ['`policies:write` changes what is permitted'] })
  assert.deepEqual((await answered(200, as('Olga')<Role>('PATCH', url, { scopes }))).blast_radius, small)

  engineers = await make('Olga', '/v1/groups', { name: 'Engineers' }, 'Engineers')
  onDuty = await make('Olga', '/v1/groups', { name: 'On duty', description: 'decides' }, 'On duty')
  const memberships: [string, Name][] = [
    [engineers, 'Ada'],
    [engineers, 'Cleo'],
    [onDuty, 'Ben'],
  ]
  for (const [group, name] of memberships) {
    await answered(201, as('Olga')('POST', `/v1/groups/${group}/members`, { user_id: idOf(name) }))
  }
  const approve = `/v1/requests/${randomUUID()}/approve`
  await refused(403, 'forbidden', as('Ben')('POST', approve))
  await answered(200, as('Olga')('PUT', `/v1/groups/${onDuty}/role-mappings`, { role_ids: [role_id] }))
  await refused(404, 'not_found', as('Ben')('POST', approve))
  await answered(200, as('Olga')('PUT', `/v1/users/${idOf('Dora')}/roles`, { roles: ['auditor'] }))
})

const notice = 'Production is changed by its pipeline'

test('policies and their rules are created and ordered', async () => {
  const account = { id: production, account_id: production, name: 'shop', metadata: { env: 'production' } }
  await answered(200, as('Olga')('PUT', '/v1/cloud/accounts', { resources: [account] }))
  type Policy = Named & { enabled: boolean; rules: Made[] }
  const policies = async () => (await answered(200, as('Olga')<Page<Policy>>('GET', '/v1/policies'))).data
  const [starting] = await policies()
  assert.equal(starting?.name, 'Approvers')
  words.set(starting.id, 'Approvers')
  await answered(200, as('Olga')('PATCH', `/v1/policies/${starting.id}`, { enabled: false }))

  const everyDay = await make('Olga', '/v1/policies', { name: 'Every day' }, 'Every day')
  const guardRails = await make('Olga', '/v1/policies', { name: 'Guard rails' }, 'Guard rails')
  const rule = async (policy: string, body: object) =>
    (await answered(201, as('Olga')<Made>('POST', `/v1/policies/${policy}/rules`, body))).id
  const ask = await rule(everyDay, {
    effect: 'permit',
    principal_scope_type: 'in',
    principal_entity_type: 'Group',
    principal_entity_id: engineers,
    resource_scope_type: 'eq',
    resource_entity_type: 'cloud_account',
    resource_entity_id: production,
  })
  const look = await rule(everyDay, {
    policy_text: `@approval_mode("auto") permit (principal in Group::"${engineers}", action == Action::"Look", resource);`,
  })
  const approve = await rule(everyDay, {
    policy_text: `permit (principal in Group::"${onDuty}", action == Action::"approve", resource is access_request);`,
  })
  const never = await rule(guardRails, { effect: 'forbid', action_scope_type: 'eq', action_ids: ['Administrate'] })
  await answered(200, as('Olga')('PATCH', `/v1/policies/${guardRails}/rules/${never}`, { notice }))
  await refused(400, 'invalid_policy', as('Olga')('POST', `/v1/policies/${everyDay}/rules`, { policy_text: 'permit' }))

  await answered(204, as('Olga')('PATCH', '/v1/policies/reorder', { ids: [guardRails, everyDay] }))
  await answered(204, as('Olga')('PATCH', `/v1/policies/${everyDay}/rules/reorder`, { ids: [approve, look, ask] }))
  assert.deepEqual(
    (await policies()).map(({ name, enabled }) => [name, enabled]),
    [
      ['Approvers', false],
      ['Guard rails', true],
      ['Every day', true],
    ],
  )
  const { rules } = await answered(200, as('Olga')<Policy>('GET', `/v1/policies/${everyDay}`))
  assert.deepEqual(
    rules.map(({ id }) => id),
    [approve, look, ask],
  )
})

let adas: Grant

test('a user requests access, an approver by group approves, and the access is active', async () => {
  const forbidden = await refused(403, 'policy_denied', as('Ada')('POST', '/v1/requests', asking('Administrate')))
  assert.deepEqual(forbidden.notices, [notice])
  await refused(403, 'policy_denied', as('Olga')('POST', '/v1/requests', asking('Change')))

  const request = await make('Ada', '/v1/requests', asking('Change', { reason: 'a fix' }), 'Ada’s change')
  const notification = await untilNotified('Ben', 'request.created', request)
  assert.match(notification.body, /^Ada requests Change on account shop \(111122223333\) for 10 min\. Reason: “a fix”/)
  const read = await answered(
    200,
    as('Ben')<{ read_at?: string }>('POST', `/v1/users/me/notifications/${notification.id}/read`),
  )
  assert.ok(read.read_at !== undefined)
  await refused(403, 'forbidden', as('Ada')('POST', `/v1/requests/${request}/approve`))
  // An admin has the scope; policy permits only users on duty.
  await refused(403, 'policy_denied', as('Olga')('POST', `/v1/requests/${request}/approve`))
  const approved = await answered(200, as('Ben')<AccessRequest>('POST', `/v1/requests/${request}/approve`))
  assert.deepEqual([approved.status, approved.decided_by], ['approved', idOf('Ben')])
  adas = await grantOf('Ada', request, { status: 'active', provisioning_status: 'successful' })
  words.set(adas.id, 'Ada’s grant')
  assert.equal(await heldAtTarget(), 1)
  await untilNotified('Ada', 'request.approved', request)
  await untilNotified('Ada', 'grant.activated', adas.id)
  await answered(200, as('Ada')('POST', '/v1/users/me/notifications/read-all'))
})

test('access is revoked before its end', async () => {
  await refused(403, 'forbidden', as('Ben')('POST', `/v1/grants/${adas.id}/revoke`))
  const revoked = await answered(200, as('Olga')<Grant>('POST', `/v1/grants/${adas.id}/revoke`, { reason: 'done' }))
  assert.deepEqual([revoked.status, revoked.ended_by], ['revoked', idOf('Olga')])
  const { body } = await untilNotified('Ada', 'grant.revoked', adas.id)
  assert.match(body, /^Olga ended .* of Ada early\. Because: “done”/)
  await until('it is taken away', async () => (await heldAtTarget()) === 0)
})

test('a colleague who leaves loses their access and their pending requests', async () => {
  const waiting = await make('Cleo', '/v1/requests', asking('Change'), 'Cleo’s change')
  const look = await make('Cleo', '/v1/requests', asking('Look'), 'Cleo’s look')
  words.set((await grantOf('Olga', look, { status: 'active' })).id, 'Cleo’s grant')
  await until('the target has the access', async () => (await heldAtTarget()) === 1)
  await answered(200, as('Olga')('PATCH', `/v1/users/${idOf('Cleo')}`, { active: false }))
  assert.equal((await answered(200, as('Ben')<AccessRequest>('GET', `/v1/requests/${waiting}`))).status, 'cancelled')
  await grantOf('Olga', look, { status: 'revoked', user_id: idOf('Cleo') })
  await refused(401, 'unauthenticated', as('Cleo')('GET', '/v1/users/me/profile'))
  await refused(401, 'invalid_authorization_code', day.signIn('Cleo'))
  await until('it is taken away', async () => (await heldAtTarget()) === 0)
})

let key = ''

test('a key is created, changes a setting, is listed without its secret, and is revoked', async () => {
  type Key = Made & { key?: string; last_used_at: string | null; revoked_by: string | null }
  const wanted = { name: 'automation', scopes: ['settings:write'] }
  const made = await answered(201, as('Olga')<Key>('POST', '/v1/api-keys', wanted))
  key = made.id
  words.set(key, 'the key')
  const asKey = day.client({ api_key: made.key ?? '' })
  await answered(200, asKey('PUT', '/v1/settings/requests.max_duration_seconds', { value: '300' }))
  await refused(400, 'invalid_input', as('Ada')('POST', '/v1/requests', asking('Change')))
  await refused(403, 'forbidden', asKey('GET', '/v1/users'))
  const listed = async () =>
    (await answered(200, as('Olga')<Page<Key>>('GET', '/v1/api-keys'))).data.find(({ id }) => id === key)
  const { key: text, ...rest } = made
  assert.ok(text !== undefined && !JSON.stringify(await listed()).includes(text))
  assert.deepEqual({ ...(await listed()), last_used_at: null }, { ...rest, last_used_at: null })
  await answered(200, as('Olga')('DELETE', `/v1/api-keys/${key}`))
  assert.equal((await listed())?.revoked_by, idOf('Olga'))
  await refused(401, 'unauthenticated', asKey('PUT', '/v1/settings/requests.max_duration_seconds', { value: '28800' }))
})

test('users set their preferences', async () => {
  const liked = { locale: 'en-GB', timezone: 'Europe/London', date_format: 'DD/MM/YYYY', time_format: '24h' }
  await answered(200, as('Ada')('PATCH', '/v1/users/me/preferences', liked))
  assert.deepEqual(await answered(200, as('Ada')('GET', '/v1/users/me/preferences')), liked)
  await answered(200, as('Ada')('PUT', '/v1/users/me/profile', { display_name: 'Countess' }))
  const me = await answered(200, as('Ada')('GET', '/v1/users/me/profile'))
  assert.deepEqual([me.name, me.display_name, me.first_name], ['Ada', 'Countess', null])
  // The provider manages her name.
  await refused(400, 'invalid_input', as('Ada')('PUT', '/v1/users/me/profile', { first_name: 'Augusta' }))
})

test('the audit log has every event with its actor, and no secret', async () => {
  const log = '/v1/audit-events'
  const listed: AuditEvent[] = []
  for (let cursor: string | undefined = ''; cursor !== undefined; ) {
    const url: string = `${log}?limit=20${cursor && `&cursor=${cursor}`}`
    const page: Page<AuditEvent> = await answered(200, as('Dora')<Page<AuditEvent>>('GET', url))
    listed.push(...page.data)
    cursor = page.next_cursor
  }
  // Two events of one statement have no order.
  const told = listed.filter(({ type }) => type !== 'policy.rule_texts').toReversed()
  assert.deepEqual(told.map(day.lineOf), lived.trim().split('\n'))
  // A link alone names an address: that of the provider's account.
  const text = JSON.stringify(listed.filter(({ type }) => type !== 'user.linked'))
  for (const unsaid of ['@example.com', day.provider.client_secret, 'Countess', 'a fix']) {
    assert.ok(!text.includes(unsaid), `the log contains \`${unsaid}\``)
  }

  // An event is exported once no open transaction can still precede it, of whichever tenant or test.
  const exported = await until('the whole log is exported', async () => {
    const all = await answered(200, as('Dora')<AuditEvent[]>('GET', `${log}/export`))
    return all.length === listed.length ? all : undefined
  })
  const byId = (events: AuditEvent[]) => events.toSorted((one, next) => (one.id < next.id ? -1 : 1))
  assert.deepEqual(byId(exported), byId(listed))
  const lines = async (query: string) =>
    (await answered(200, as('Dora')<Page<AuditEvent>>('GET', `${log}?${query}`))).data.map(day.lineOf)
  assert.deepEqual(await lines(`actor=${idOf('Ben')}&type=request.approved`), ['Ben: request.approved Ada’s change'])
  assert.deepEqual(await lines(`subject=${adas.id}`), [
    'Olga: grant.revoked Ada’s grant',
    'the system: grant.activated Ada’s grant',
  ])
  await refused(403, 'forbidden', as('Ben')('GET', log))
  assert.deepEqual((await lines('limit=1'))[0], 'Ben: access.refused listAuditEvents')
})
