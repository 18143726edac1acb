import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { after, codeOf, extensionStage, hour, minute } from '../../test/support/extension-stage.ts'
import { openHouse } from '../../test/support/house.ts'
import { notifyAll } from '../../test/support/notify-all.ts'
import { startWorkersWith } from '../../test/support/workers.ts'

/** Access lasts longer without a gap: an extension is a request that policy answers for the whole time. */
const house = await openHouse()
/** Until when the target was asked to hold access, in milliseconds since 1970. */
const heldUntil: number[] = []
startWorkersWith(house, ({ verify }) => ({
  verify(tx, target, until, signal) {
    if (until !== null) heldUntil.push(until.getTime())
    return verify(tx, target, until, signal)
  },
}))
const on = await extensionStage(house, 'extended')
const { owner, people, tenant_id, given, age, endOf, extend, extended, requestsExtending } = on

const notify = () => notifyAll(house)
const notificationsOf = async (grant: string) => {
  const rows = await house.asSuperuser<{ event_type: string }>(
    'select event_type from notification where tenant_id = $1 and resource_id = $2 order by id',
    [tenant_id, grant],
  )
  return rows.map(({ event_type }) => event_type)
}

suite('an extension', () => {
  test('goes on from the end without a gap, and the end of what it extends is not announced', async () => {
    const account = '220000000001'
    const first = await given(account)
    const reply = await extend(first.id, { duration_seconds: hour, reason: 'one more run' })
    assert.equal(reply.status, 201, reply.text)
    const { id, status, duration_seconds, reason, approval_mode } = reply.body
    assert.deepEqual(
      [reply.body.extends, status, duration_seconds, reason, approval_mode],
      [first.id, 'approved', hour, 'one more run', 'auto'],
    )
    const [extending] = await on.grantsAre(String(id), 'active', 'successful')
    const end = after(first.expires_at, hour)
    assert.equal(await endOf(extending?.id ?? ''), end)
    // A target that ends access by itself, a minute early at most, is asked for the new end before the old one.
    const asked = heldUntil.filter((moment) => Math.abs(moment - (Date.parse(end) - minute * 1_000)) < 1_000)
    assert.ok(asked.length > 0)
    assert.equal(await on.heldAt(account), 1)
    // The first ends: the access stays, and its holder is not notified that it ended.
    await age(first.request, 60)
    await on.grantsAre(first.request, 'expired', 'deprovisioned')
    assert.equal(await on.heldAt(account), 1)
    await notify()
    assert.deepEqual(await notificationsOf(first.id), ['grant.activated'])
    await age(String(id), 180)
    await on.grantsAre(String(id), 'expired', 'deprovisioned')
    assert.equal(await on.heldAt(account), 0)
    await notify()
    assert.deepEqual(await notificationsOf(extending?.id ?? ''), ['grant.activated', 'grant.expired'])
  })

  test('is shown with the grant: from when, by how much, and by what', async () => {
    const first = await given('220000000002', { minutes: 0 })
    const detail = async () => (await on.call(people.user, 'GET', `/v1/grants/${first.id}`)).body
    const cap = 86_400
    await on.call(owner, 'PUT', '/v1/settings/requests.max_duration_seconds', { value: String(cap) })
    const before = await detail()
    assert.deepEqual(
      [before.extends, before.extended_by, before.extendable],
      [null, null, { from: after(first.expires_at, -hour / 2), max_duration_seconds: cap - hour }],
    )
    await age(first.request, 30)
    const second = await extended(first.id)
    const { extended_by, extendable } = await detail()
    const extension = { request_id: second.request, status: 'approved', until: second.expires_at }
    assert.deepEqual([extended_by, extendable], [extension, null])
    const { body } = await on.call(people.user, 'GET', `/v1/grants/${second.id}`)
    assert.equal(body.extends, first.id)
    assert.deepEqual(body.extendable, {
      from: after(second.expires_at, -hour / 2),
      max_duration_seconds: cap - 2 * hour,
    })
  })

  test('is refused before half of the time is used, and says from when on', async () => {
    const grant = await given('220000000003', { minutes: 20 })
    const reply = await extend(grant.id)
    assert.deepEqual(codeOf(reply), [409, 'too_early_to_extend'])
    assert.deepEqual(reply.body.details, { extendable_from: after(grant.expires_at, -hour / 2) })
    const second = await (async () => {
      await age(grant.request, 10)
      return extended(grant.id)
    })()
    // The same holds for the extension: half of its own time, which begins at the end of the first.
    assert.deepEqual(codeOf(await extend(second.id)), [409, 'too_early_to_extend'])
  })

  test('is asked for by the holder alone, by token or by their API key', async () => {
    const { id } = await given('220000000004')
    for (const [person, expected] of [
      [people.approver, [403, 'forbidden']],
      [owner, [403, 'forbidden']],
      [people.auditor, [403, 'forbidden']],
    ] as const) {
      assert.deepEqual(codeOf(await extend(id, { duration_seconds: hour }, person)), expected)
    }
    const others = await house.tenant('others of extended')
    const foreign = await house.call({
      ...{ method: 'POST', url: `/v1/grants/${id}/extend`, body: { duration_seconds: hour } },
      ...{ token: others.people.user.token, tenant_id: others.tenant_id },
    })
    const unknown = await extend('01989c5e-7b1a-7c3d-9e2f-4a5b6c7d8e9f')
    assert.equal(foreign.status, 404)
    assert.equal(foreign.text, unknown.text)
    // Who may not even see the grant learns nothing of it.
    const body = on.account('220000000008', { action: 'List', duration_seconds: hour })
    const owned = await on.ask(body, people.approver)
    const [ofApprover] = await on.grantsAre(owned, 'active', 'successful')
    assert.equal((await extend(ofApprover?.id ?? '')).text, unknown.text)
    assert.deepEqual(await requestsExtending(id), [])
    const byKey = await house.call({
      ...{ method: 'POST', url: `/v1/grants/${id}/extend`, body: { duration_seconds: hour } },
      ...{ api_key: people.user.api_key, tenant_id },
    })
    assert.equal(byKey.status, 201, byKey.text)
  })

  test('needs access that is active', async () => {
    const { id } = await given('220000000005')
    assert.equal((await on.call(people.user, 'POST', `/v1/grants/${id}/revoke`)).status, 200)
    const reply = await extend(id)
    assert.deepEqual([...codeOf(reply), reply.body.details], [409, 'grant_not_live', { status: 'revoked' }])
  })

  test('is one at a time; after one that was denied, or whose access ended, there may be another', async () => {
    const { id } = await given('220000000006', { action: 'List' })
    const second = await extended(id)
    const again = await extend(id)
    assert.deepEqual([...codeOf(again), again.body.details], [409, 'already_extended', { request_id: second.request }])
    assert.equal((await on.call(people.user, 'POST', `/v1/grants/${second.id}/revoke`)).status, 200)
    assert.equal((await on.grantsOf(second.request))[0]?.status, 'revoked')
    await extended(id)
  })

  test('of wrong form is refused by field', async () => {
    const { id } = await given('220000000007')
    for (const [body, pointer] of [
      [{}, '/duration_seconds'],
      [{ duration_seconds: 59 }, '/duration_seconds'],
      [{ duration_seconds: '3600' }, '/duration_seconds'],
      [{ duration_seconds: hour, reason: 7 }, '/reason'],
      [{ duration_seconds: hour, break_glass: true }, '/break_glass'],
    ] as const) {
      const reply = await extend(id, body)
      assert.equal(reply.status, 400, reply.text)
      const { fields } = reply.body.details as { fields: { pointer: string }[] }
      assert.equal(fields[0]?.pointer, pointer)
    }
  })
})

suite('of a request for several places', () => {
  test('one grant is extended at its place alone', async () => {
    const set = 'arn:aws:sso:::permissionSet/ssoins-1234567890abcdef/ps-1234567890abcdef'
    const account_ids = ['220000000041', '220000000042']
    const request = await on.ask({
      resource: { type: 'cloud_permission_set', id: set },
      action: 'List',
      metadata: { account_ids, ticket: 'INC-7' },
      duration_seconds: hour,
    })
    // The set itself is an action on each account, which only a person may approve here.
    await on.approve(request)
    const [one] = await on.grantsAre(request, 'active', 'successful')
    await age(request, 30)
    const reply = await extend(one?.id ?? '')
    assert.equal(reply.status, 201, reply.text)
    assert.deepEqual(reply.body.metadata, { account_ids: ['220000000041'], ticket: 'INC-7' })
    await on.approve(String(reply.body.id))
    const grants = await on.grantsAre(String(reply.body.id), 'active', 'successful')
    assert.deepEqual(
      grants.map(({ resource_id }) => resource_id),
      ['220000000041'],
    )
    assert.equal(await on.heldAt('220000000041'), 1)
  })
})
