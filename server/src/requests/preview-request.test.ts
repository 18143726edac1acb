import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openHouse } from '../../test/support/house.ts'
import { requestStage } from '../../test/support/request-stage.ts'

/** A preview returns the answer that the request would get, and stores nothing. */
const house = await openHouse()
const on = await requestStage(house, 'previews')
const { owner, people } = on
const unit = 'ou-ab12-12345678'
const set = 'arn:aws:sso:::permissionSet/ssoins-1234567890abcdef/ps-1234567890abcdef'

await on.cache({ '500000000001': { units: [unit] }, '500000000002': { units: [unit] } })
await on.rule('@notice("look, do not touch") permit (principal, action == Action::"ReadOnly", resource);')
await on.rule('@approval_mode("auto") @audit_session("true") permit (principal, action == Action::"List", resource);')
await on.rule('@approval_mode("break_glass") permit (principal, action == Action::"Admin", resource);')
await on.rule('@notice("closed") forbid (principal, action, resource == cloud_account::"500000000009");')

/** Everything that a request might store. */
async function traces(): Promise<unknown> {
  return house.asSuperuser(
    `select (select count(*) from access_request) as requests, (select count(*) from decision) as decisions,
      (select count(*) from access_grant) as grants, (select count(*) from event) as events`,
  )
}

const emergency = { break_glass: true, reason: 'the site is down' }
for (const [what, body] of [
  ['a request that a person decides', on.account('500000000001')],
  ['a request that a rule approves', on.account('500000000001', { action: 'List', duration_seconds: 600 })],
  ['an emergency', on.account('500000000001', { action: 'Admin', ...emergency })],
  ['an emergency without a reason', on.account('500000000001', { action: 'Admin', break_glass: true })],
  ['a request that a rule forbids', on.account('500000000009')],
  ['a request that no rule permits', on.account('500000000001', { action: 'Write' })],
  ['a request for too long', on.account('500000000001', { duration_seconds: 1_000_000 })],
  ['a malformed account', on.account('5')],
  ['the reserved action', on.account('500000000001', { action: 'approve' })],
  ['an unknown field', on.account('500000000001', { user_id: people.admin.user_id })],
  ['a unit', { resource: { type: 'cloud_organizational_unit', id: unit }, action: 'ReadOnly' }],
  ['an empty unit', { resource: { type: 'cloud_organizational_unit', id: 'ou-ab12-87654321' }, action: 'ReadOnly' }],
  ['a permission set without accounts', { resource: { type: 'cloud_permission_set', id: set }, action: 'List' }],
  [
    'a permission set that is forbidden on one account',
    {
      resource: { type: 'cloud_permission_set', id: set },
      action: 'List',
      metadata: { account_ids: ['500000000001', '500000000009'] },
    },
  ],
] as const) {
  test(`returns the answer of a request and stores nothing: ${what}`, async () => {
    const before = await traces()
    const preview = await on.call(people.user, 'POST', '/v1/requests/preview', body)
    assert.deepEqual(await traces(), before)
    const created = await on.call(people.user, 'POST', '/v1/requests', body)
    if (created.status === 400) return assert.deepEqual([preview.status, preview.body], [400, created.body])
    assert.equal(preview.status, 200, preview.text)
    const { allowed, notices, reasoning } = preview.body
    if (created.status === 403) {
      assert.deepEqual(
        [allowed, reasoning, notices, preview.body.approval_mode, preview.body.places],
        [false, created.body.message, created.body.notices, null, []],
      )
      return
    }
    assert.equal(created.status, 201, created.text)
    const [kept] = await house.asSuperuser(
      `select r.approval_mode, r.audit_session, r.duration_seconds, r.places, r.risk, r.risk_reasons, d.reasoning,
          d.notices
        from access_request r join decision d on d.request_id = r.id where r.id = $1`,
      [created.body.id],
    )
    const { may_decide, max_duration_seconds, ...answer } = preview.body
    assert.equal(max_duration_seconds, 43_200)
    assert.deepEqual(answer, { allowed: true, live_grant: null, ...kept })
    assert.equal(may_decide !== undefined, kept?.approval_mode === 'require')
  })
}

test('shows which rules decided only with policies:read', async () => {
  const body = on.account('500000000009')
  const asUser = await on.call(people.user, 'POST', '/v1/requests/preview', body)
  assert.ok(!('rule_ids' in asUser.body))
  const asOwner = await on.call(owner, 'POST', '/v1/requests/preview', body)
  assert.equal((asOwner.body.rule_ids as string[]).length, 1)
})

test('follows the current rules', async () => {
  const body = on.account('500000000003', { action: 'Later' })
  const allowed = async () => (await on.call(people.user, 'POST', '/v1/requests/preview', body)).body.allowed
  assert.equal(await allowed(), false)
  const takeAway = await on.rule('permit (principal, action == Action::"Later", resource);')
  assert.equal(await allowed(), true)
  await takeAway()
  assert.equal(await allowed(), false)
})

type NearMiss = { kind: string; words: string; rule_id?: string; policy_name?: string; condition?: string }

test('explains near misses, with policies:read by rule, otherwise only by the request', async () => {
  const takeAway = [
    await on.rule('permit (principal, action == Action::"Deploy", resource) when { context.duration_seconds <= 600 };'),
    await on.rule(
      'permit (principal, action == Action::"Deploy", resource) when { resource.hasTag("env") && resource.getTag("env") == "dev" };',
    ),
  ]
  const body = on.account('500000000001', { action: 'Deploy', duration_seconds: 3_600 })
  const preview = await on.call(people.user, 'POST', '/v1/requests/preview', body)
  assert.deepEqual(preview.body.nearest, [
    {
      kind: 'duration_seconds',
      words: 'a rule permits this for at most 10 minutes; you requested 1 hour',
      wanted: 'for at most 10 minutes',
      given: 'you requested 1 hour',
      approval_mode: 'require',
      duration_seconds: 600,
    },
  ])
  const refused = await on.call(people.user, 'POST', '/v1/requests', body)
  assert.deepEqual([refused.status, refused.body.details], [403, { nearest: preview.body.nearest }])

  const asOwner = await on.call(owner, 'POST', '/v1/requests/preview', body)
  const [first, second] = asOwner.body.nearest as NearMiss[]
  assert.match(first?.words ?? '', /^rule 4 of the policy “previews” permits this for at most 10 minutes;/)
  assert.deepEqual([first?.policy_name, second?.kind], ['previews', 'tag'])
  assert.equal(second?.condition, 'when { resource.hasTag("env") && (resource.getTag("env") == "dev") }')

  const shortened = await on.call(people.user, 'POST', '/v1/requests/preview', { ...body, duration_seconds: 600 })
  assert.equal(shortened.body.allowed, true)
  for (const take of takeAway) await take()
  const after = await on.call(people.user, 'POST', '/v1/requests/preview', body)
  assert.deepEqual([after.body.allowed, 'nearest' in after.body], [false, false])
})
