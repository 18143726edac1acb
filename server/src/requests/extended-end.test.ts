import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { after, codeOf, extensionStage, hour, minute } from '../../test/support/extension-stage.ts'
import { openHouse } from '../../test/support/house.ts'
import { startWorkers } from '../../test/support/workers.ts'

/** An extension ends with the access that it extends, whatever happens at the same moment. */
const house = await openHouse()
startWorkers(house)
const on = await extensionStage(house, 'ends of extended')
const { owner, people, tenant_id, given, givenByPerson, endOf, extend, extended, requestsExtending } = on

suite('the end of the access', () => {
  test('before its time ends its extension too, and the pending one is cancelled', async () => {
    const account = '220000000031'
    const first = await given(account)
    const second = await extended(first.id)
    const reply = await on.call(owner, 'POST', `/v1/grants/${first.id}/revoke`, { reason: 'no more' })
    assert.deepEqual([reply.status, reply.body.id], [200, first.id])
    await on.grantsAre(first.request, 'revoked', 'deprovisioned')
    const [extending] = await on.grantsAre(second.request, 'revoked', 'deprovisioned')
    assert.equal(extending?.end_reason, 'no more')
    assert.equal(await on.heldAt(account), 0)
  })

  test('of the extension alone leaves what it extends', async () => {
    const account = '220000000032'
    const first = await given(account)
    const second = await extended(first.id)
    assert.equal((await on.call(people.user, 'POST', `/v1/grants/${second.id}/revoke`)).status, 200)
    await on.grantsAre(second.request, 'revoked', 'deprovisioned')
    await on.grantsAre(first.request, 'active', 'successful')
    assert.equal(await on.heldAt(account), 1)
  })

  test('cancels a request to extend it, which nobody can approve then', async () => {
    const first = await givenByPerson('220000000033')
    const id = String((await extend(first.id)).body.id)
    assert.equal((await on.call(people.user, 'POST', `/v1/grants/${first.id}/revoke`)).status, 200)
    assert.deepEqual(await requestsExtending(first.id), [{ status: 'cancelled' }])
    const reply = await on.call(people.approver, 'POST', `/v1/requests/${id}/approve`, {})
    assert.deepEqual(codeOf(reply), [409, 'request_not_pending'])
    assert.deepEqual(await on.grantsOf(id), [])
  })
})

suite('at the same moment', () => {
  const revoke = (grant: string) => on.call(people.user, 'POST', `/v1/grants/${grant}/revoke`)

  test('two extensions of one grant: one is made', async () => {
    for (const account of ['220000000051', '220000000052', '220000000053']) {
      const { id } = await given(account)
      const replies = await Promise.all([extend(id), extend(id), extend(id)])
      const codes = replies.map(({ status, body }) => String(body.code ?? status)).toSorted()
      assert.deepEqual(codes, ['201', 'already_extended', 'already_extended'])
      assert.equal((await requestsExtending(id)).length, 1)
    }
  })

  test('an extension and the end of the grant: nothing is left (R15)', async () => {
    for (const account of ['220000000054', '220000000055', '220000000056', '220000000057']) {
      const { id, request } = await given(account)
      const [extension, end] = await Promise.all([extend(id), revoke(id)])
      assert.equal(end.status, 200, end.text)
      if (extension.status !== 201) assert.deepEqual(codeOf(extension), [409, 'grant_not_live'])
      await on.grantsAre(request, 'revoked', 'deprovisioned')
      const live = await house.asSuperuser(
        `select from access_grant where tenant_id = $1 and resource_id = $2 and status in ('pending', 'active')`,
        [tenant_id, account],
      )
      assert.equal(live.length, 0)
    }
  })

  test('the approval of an extension and the end of the grant: nothing is left (R15)', async () => {
    for (const account of ['220000000058', '220000000059', '220000000060', '220000000061']) {
      const { id } = await givenByPerson(account)
      const extension = String((await extend(id)).body.id)
      const [approval, end] = await Promise.all([
        on.call(people.approver, 'POST', `/v1/requests/${extension}/approve`, {}),
        revoke(id),
      ])
      assert.equal(end.status, 200, end.text)
      if (approval.status !== 200) assert.deepEqual(codeOf(approval), [409, 'request_not_pending'])
      const live = await house.asSuperuser(
        `select from access_grant where tenant_id = $1 and resource_id = $2 and status in ('pending', 'active')`,
        [tenant_id, account],
      )
      assert.equal(live.length, 0)
    }
  })
})

suite('an extension that failed', () => {
  test('is retried as long as the access goes on, and not after it was ended', async () => {
    const account = '220000000071'
    const first = await given(account)
    const reply = await extend(first.id)
    const id = String(reply.body.id)
    await on.grantsAre(id, 'active', 'successful')
    const [extending] = await on.grantsOf(id)
    // As if policy had refused it right before it was given.
    await house.asSuperuser(
      `set session_replication_role = replica;
      update access_grant set status = 'failed', provisioning_status = 'failed', activated_at = null, expires_at = null,
        expiring_at = null, ended_at = clock_timestamp() where id = '${extending?.id}';
      set session_replication_role = origin`,
    )
    const retry = () => on.call(people.user, 'POST', `/v1/grants/${extending?.id}/retry`)
    assert.equal((await retry()).status, 200)
    const [again] = await on.grantsAre(id, 'active', 'successful')
    assert.equal(await endOf(again?.id ?? ''), after(first.expires_at, hour))
    await house.asSuperuser(
      `set session_replication_role = replica;
      update access_grant set status = 'failed', provisioning_status = 'failed', activated_at = null, expires_at = null,
        expiring_at = null, ended_at = clock_timestamp() where id = '${extending?.id}';
      set session_replication_role = origin`,
    )
    assert.equal((await on.call(people.user, 'POST', `/v1/grants/${first.id}/revoke`)).status, 200)
    assert.deepEqual(codeOf(await retry()), [409, 'grant_not_retryable'])
  })

  test('cannot begin after its own time: its deadline is not later', async () => {
    const { id } = await given('220000000072', { minutes: 59 })
    const reply = await extend(id, { duration_seconds: minute })
    const [row] = await house.asSuperuser<{ in_time: boolean }>(
      `select activate_by <= starts_at + make_interval(secs => duration_seconds) as in_time from access_grant
        where request_id = $1`,
      [reply.body.id],
    )
    assert.equal(row?.in_time, true)
  })
})

test('the database refuses two pending extensions of a grant, and a change of what a request extends', async () => {
  const { id } = await givenByPerson('220000000081')
  const pending = String((await extend(id)).body.id)
  await assert.rejects(
    house.asSuperuser(
      `insert into access_request select (jsonb_populate_record(r, jsonb_build_object('id', gen_random_uuid()))).*
        from access_request r where id = $1`,
      [pending],
    ),
    { constraint: 'access_request_extending_uq' },
  )
  for (const change of ['extends = null, held_seconds = null', 'held_seconds = 0', `extends = gen_random_uuid()`]) {
    await assert.rejects(house.asSuperuser(`update access_request set ${change} where id = $1`, [pending]), {
      constraint: 'access_request_extends',
    })
  }
})
