import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { after, codeOf, extensionStage, hour, minute } from '../../test/support/extension-stage.ts'
import { openHouse } from '../../test/support/house.ts'
import { until } from '../../test/support/wait.ts'
import { startWorkers } from '../../test/support/workers.ts'

/** Policy answers an extension for the whole time, and people decide where they decided before. */
const house = await openHouse()
startWorkers(house)
const on = await extensionStage(house, 'decided extended')
const { owner, people, given, givenByPerson, active, age, endOf, extend, extended, requestsExtending } = on

suite('policy answers for the whole time without a gap', () => {
  test('a rule about the duration counts what came before', async () => {
    const end = await on.rule('forbid (principal, action, resource) when { context.duration_seconds > 7200 };')
    const { id } = await given('220000000011')
    const refused = await extend(id, { duration_seconds: hour + minute })
    assert.deepEqual(codeOf(refused), [403, 'policy_denied'])
    const [nearest] = (refused.body.details as { nearest: Record<string, unknown>[] }).nearest
    assert.deepEqual(
      [nearest?.words, nearest?.duration_seconds],
      ['for at most 2 hours in all no rule forbids this; with what came before, you requested 2 hours 1 minute', hour],
    )
    assert.deepEqual(await requestsExtending(id), [])
    const second = await extended(id, { duration_seconds: hour })
    const { data } = (await on.call(people.user, 'GET', `/v1/requests/${second.request}/decision`)).body as {
      data: { question: { duration_seconds: number } }[]
    }
    assert.deepEqual(
      data.map(({ question }) => question.duration_seconds),
      [2 * hour],
    )
    await end()
  })

  test('the tenant’s maximum binds all of it', async () => {
    const set = (value: number) =>
      on.call(owner, 'PUT', '/v1/settings/requests.max_duration_seconds', { value: String(value) })
    const { id } = await given('220000000012')
    await set(2 * hour)
    const reply = await extend(id, { duration_seconds: hour + 1 })
    assert.equal(reply.status, 400, reply.text)
    assert.match(reply.text, /must be at most 3600: with what came before it, the access may last 2 h without a gap/)
    const second = await extended(id, { duration_seconds: hour })
    await age(second.request, 75)
    assert.deepEqual(codeOf(await extend(second.id, { duration_seconds: minute })), [422, 'unprocessable'])
    assert.equal((await on.call(people.user, 'GET', `/v1/grants/${second.id}`)).body.extendable, null)
    await set(86_400)
  })

  test('access that joined held access counts the time of both, and the person who decided one of them', async () => {
    const account = '220000000013'
    const first = await active(await on.approve(await on.ask(on.account(account, { duration_seconds: hour }))), 45)
    const end = await on.rule('@approval_mode("auto") permit (principal, action == Action::"ReadOnly", resource);')
    const joined = await given(account, { action: 'ReadOnly' })
    const [row] = await house.asSuperuser<{ held: boolean; by_person: boolean }>(
      `select g.held_since = f.activated_at - interval '30 minutes' as held, g.by_person
        from access_grant g, access_grant f where g.id = $1 and f.id = $2`,
      [joined.id, first.id],
    )
    assert.deepEqual(row, { held: true, by_person: true })
    // 45 minutes before the second began, and its own hour.
    const forbidding = await on.rule('forbid (principal, action, resource) when { context.duration_seconds > 10000 };')
    assert.deepEqual(codeOf(await extend(joined.id, { duration_seconds: hour + 10 * minute })), [403, 'policy_denied'])
    const reply = await extend(joined.id, { duration_seconds: hour })
    assert.deepEqual([reply.status, reply.body.status], [201, 'pending'])
    await forbidding()
    await end()
  })

  test('access that began while that of a grant that had ended was still there counts its time too', async () => {
    const account = '220000000014'
    const first = await givenByPerson(account)
    // The target does not take it away yet.
    await on.inject({ throttled: 1_000 })
    await age(first.request, 31)
    await until('it is over', async () =>
      (await on.grantsOf(first.request)).every(({ status }) => status === 'expired'),
    )
    assert.equal(await on.heldAt(account), 1)
    const second = await on.approve(await on.ask(on.account(account, { duration_seconds: hour })))
    await on.inject({})
    const [grant] = await on.grantsAre(second, 'active', 'successful')
    const [row] = await house.asSuperuser<{ held: boolean }>(
      'select g.held_since = f.activated_at as held from access_grant g, access_grant f where g.id = $1 and f.id = $2',
      [grant?.id, first.id],
    )
    assert.deepEqual(row, { held: true })
    // Once it is gone, the time begins again.
    assert.equal((await on.call(people.user, 'POST', `/v1/grants/${grant?.id}/revoke`)).status, 200)
    await on.grantsAre(second, 'revoked', 'deprovisioned')
    const end = await on.rule('@approval_mode("auto") permit (principal, action == Action::"ReadOnly", resource);')
    const third = await given(account, { action: 'ReadOnly' })
    await end()
    const entitlements = await house.asSuperuser(
      'select distinct entitlement_id from access_grant where id = any($1)',
      [[grant?.id, third.id]],
    )
    assert.equal(entitlements.length, 1)
    const [later] = await house.asSuperuser<{ alone: boolean; by_person: boolean }>(
      'select held_since = activated_at as alone, by_person from access_grant where id = $1',
      [third.id],
    )
    assert.deepEqual(later, { alone: true, by_person: false })
  })

  test('access that was at the target before its first grant, and stays there, counts from each grant on', async () => {
    const account = '220000000015'
    const ended = `/v1/grants/${(await given(account)).id}`
    await on.call(people.user, 'POST', `${ended}/revoke`)
    // Gone at the target is not enough: the service may still look whether it is.
    await until('the service knows that it is gone', async () => {
      const { body } = await on.call(people.user, 'GET', ended)
      return body.provisioning_status === 'deprovisioned'
    })
    // By hand, as an operator does who does not use Sallyport.
    await house.asSuperuser(
      `insert into sandbox_assignment (tenant_id, key) select tenant_id, target_key from entitlement
        where tenant_id = $1 and target_key like $2`,
      [on.tenant_id, `%${account}%`],
    )
    const adopted = async () => {
      const request = await on.ask(on.account(account, { action: 'List', duration_seconds: hour }))
      const [grant] = await on.grantsAre(request, 'active', 'not_attempted')
      await age(request, 30)
      return grant?.id
    }
    const first = await adopted()
    assert.equal((await on.call(people.user, 'POST', `/v1/grants/${first}/revoke`)).status, 200)
    const second = await adopted()
    const [row] = await house.asSuperuser<{ alone: boolean }>(
      'select held_since = activated_at as alone from access_grant where id = $1',
      [second],
    )
    assert.deepEqual(row, { alone: true })
  })
})

suite('who decides', () => {
  test('where a person decided the access, a person decides its extension, though a rule would', async () => {
    const first = await givenByPerson('220000000021')
    const end = await on.rule('@approval_mode("auto") permit (principal, action == Action::"ReadOnly", resource);')
    const reply = await extend(first.id)
    await end()
    assert.deepEqual([reply.status, reply.body.status, reply.body.approval_mode], [201, 'pending', 'require'])
    const id = String(reply.body.id)
    // Not by the requester.
    const own = await on.call(people.user, 'POST', `/v1/requests/${id}/approve`, {})
    assert.equal(own.status, 403)
    const narrowed = await on.call(people.approver, 'POST', `/v1/requests/${id}/approve`, { duration_seconds: 600 })
    assert.equal(narrowed.status, 200, narrowed.text)
    const [extending] = await on.grantsAre(id, 'active', 'successful')
    assert.equal(await endOf(extending?.id ?? ''), after(first.expires_at, 600))
  })

  test('also where the access that a person decided joined later', async () => {
    const account = '220000000026'
    const atOnce = () => on.rule('@approval_mode("auto") permit (principal, action == Action::"ReadOnly", resource);')
    const end = await atOnce()
    const first = await given(account, { action: 'ReadOnly' })
    await end()
    const second = await on.approve(await on.ask(on.account(account, { duration_seconds: hour })))
    await on.grantsAre(second, 'active', 'successful')
    const again = await atOnce()
    const reply = await extend(first.id)
    await again()
    assert.deepEqual([reply.status, reply.body.status], [201, 'pending'], reply.text)
  })

  test('an explanation promises no answer at once where a person decides', async () => {
    const { id } = await givenByPerson('220000000025')
    const ends = [
      await on.rule('@approval_mode("auto") permit (principal, action == Action::"ReadOnly", resource);'),
      await on.rule('forbid (principal, action, resource) when { context.duration_seconds > 5400 };'),
    ]
    const reply = await extend(id)
    for (const end of ends) await end()
    const [nearest] = (reply.body.details as { nearest: Record<string, unknown>[] }).nearest
    assert.deepEqual([nearest?.approval_mode, nearest?.duration_seconds], ['require', hour / 2])
  })

  test('policy answers for the whole time again at the approval, and for a shorter one where the approver gives less', async () => {
    const { id } = await givenByPerson('220000000024')
    const request = String((await extend(id)).body.id)
    const end = await on.rule('forbid (principal, action, resource) when { context.duration_seconds > 5400 };')
    const approve = (body: object) => on.call(people.approver, 'POST', `/v1/requests/${request}/approve`, body)
    assert.deepEqual(codeOf(await approve({})), [403, 'policy_denied'])
    assert.deepEqual(codeOf(await approve({ duration_seconds: hour / 2 + 1 })), [403, 'policy_denied'])
    assert.equal((await approve({ duration_seconds: hour / 2 })).status, 200)
    await on.grantsAre(request, 'active', 'successful')
    await end()
  })

  test('an emergency is extended by another one, with a reason, and every approver is notified', async () => {
    const more = { action: 'Admin', break_glass: true, reason: 'it burns' }
    const first = await given('220000000022', more)
    const without = await extend(first.id, { duration_seconds: hour })
    assert.equal(without.status, 400, without.text)
    const reply = await extend(first.id, { duration_seconds: hour, reason: 'it still burns' })
    assert.deepEqual(
      [reply.status, reply.body.status, reply.body.approval_mode, reply.body.break_glass],
      [201, 'approved', 'break_glass', true],
    )
    const events = (await on.eventsOf(String(reply.body.id))).map(({ type }) => type)
    assert.deepEqual(events, ['request.created', 'request.approved', 'request.break_glass'])
  })

  test('a pending extension waits no longer than the access lasts', async () => {
    const first = await givenByPerson('220000000023')
    const reply = await extend(first.id)
    const [row] = await house.asSuperuser<{ same: boolean }>(
      `select r.next_look_at = g.expires_at as same from access_request r join access_grant g on g.id = r.extends
        where r.id = $1`,
      [reply.body.id],
    )
    assert.equal(row?.same, true)
  })
})
