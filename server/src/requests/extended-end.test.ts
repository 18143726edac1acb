import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { after, codeOf, extensionStage, hour, minute } from '../../test/support/extension-stage.ts'
import { openHouse } from '../../test/support/house.ts'
import { startWorkers } from '../../test/support/workers.ts'

/** An extension ends with the access that it extends, whatever happens at the same moment. */
const house = await openHouse()
const workers = startWorkers(house)
const on = await extensionStage(house, 'ends of extended')
const { owner, people, tenant_id, given, givenByPerson, endOf, extend, extended, requestsExtending } = on

suite('the end of the access', () => {
  test('before its time ends its extension too', async () => {
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

/** As if policy had refused the grant right before it was given. */
async function fail(grant: string | undefined): Promise<void> {
  await house.asSuperuser(
    `set session_replication_role = replica;
    update access_grant set status = 'failed', provisioning_status = 'failed', activated_at = null, expires_at = null,
      expiring_at = null, ended_at = clock_timestamp() where id = '${grant}';
    set session_replication_role = origin`,
  )
}

suite('an extension that failed', () => {
  test('is retried as long as the access goes on, and not after it was ended', async () => {
    const account = '220000000071'
    const first = await given(account)
    const reply = await extend(first.id)
    const id = String(reply.body.id)
    await on.grantsAre(id, 'active', 'successful')
    const [extending] = await on.grantsOf(id)
    await fail(extending?.id)
    const retry = () => on.call(people.user, 'POST', `/v1/grants/${extending?.id}/retry`)
    assert.equal((await retry()).status, 200)
    const [again] = await on.grantsAre(id, 'active', 'successful')
    assert.equal(await endOf(again?.id ?? ''), after(first.expires_at, hour))
    await fail(extending?.id)
    assert.equal((await on.call(people.user, 'POST', `/v1/grants/${first.id}/revoke`)).status, 200)
    assert.deepEqual(codeOf(await retry()), [409, 'grant_not_retryable'])
  })

  test('is not retried while another one extends the access', async () => {
    const first = await given('220000000073')
    const failed = await extended(first.id)
    await fail(failed.id)
    await extended(first.id)
    const retry = await on.call(people.user, 'POST', `/v1/grants/${failed.id}/retry`)
    assert.deepEqual(codeOf(retry), [409, 'grant_not_retryable'])
    assert.match(retry.text, /the access that it extends has ended, or another request extends it/)
  })

  test('is retried alone, of two at the same moment', async () => {
    const first = await given('220000000074')
    const failed: string[] = []
    for (const _ of [1, 2]) {
      const { id } = await extended(first.id)
      await fail(id)
      failed.push(id)
    }
    const replies = await Promise.all(failed.map((id) => on.call(people.user, 'POST', `/v1/grants/${id}/retry`)))
    assert.deepEqual(replies.map(({ status }) => status).toSorted(), [200, 409])
  })

  test('cannot begin after its own time: its deadline is not later', async () => {
    const { id } = await given('220000000072', { minutes: 50 })
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

suite('while no worker has ended what is over', () => {
  /** A grant that is over, its extension, and a pending request to extend that. */
  async function chain(account: string) {
    const first = await givenByPerson(account)
    const one = await on.approve(String((await extend(first.id, { duration_seconds: 10 * minute })).body.id))
    const [extending] = await on.grantsAre(one, 'active', 'successful')
    return { first, one, extending: extending?.id ?? '' }
  }

  test('the end of the first grant of a chain cancels the request to extend the last', async () => {
    const [chained, other] = [await chain('220000000091'), await chain('220000000092')]
    await workers.stop()
    const requests: string[] = []
    for (const { first, one, extending } of [chained, other]) {
      await on.age(first.request, 36)
      await on.age(one, 36)
      const reply = await extend(extending)
      assert.deepEqual([reply.status, reply.body.status], [201, 'pending'], reply.text)
      requests.push(String(reply.body.id))
    }
    const [cancelled, left] = requests
    assert.equal((await on.call(owner, 'POST', `/v1/grants/${chained.first.id}/revoke`)).status, 200)
    assert.deepEqual(await requestsExtending(chained.extending), [{ status: 'cancelled' }])
    const approve = (id: string | undefined) => on.call(people.approver, 'POST', `/v1/requests/${id}/approve`, {})
    assert.deepEqual(codeOf(await approve(cancelled)), [409, 'request_not_pending'])
    // Nor is a request approved to extend what does not go on, should it ever be left pending.
    await house.asSuperuser(
      `update access_grant set status = 'revoked', provisioning_status = 'deprovisioning', ended_at = clock_timestamp()
        where id = $1`,
      [other.extending],
    )
    assert.deepEqual(codeOf(await approve(left)), [409, 'request_not_pending'])
    assert.deepEqual(await on.grantsOf(left ?? ''), [])
  })
})
