import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openHouse, type Reply } from '../support/house.ts'
import { requestStage } from '../support/request-stage.ts'
import { startWorkers } from '../support/workers.ts'

/** A live tenant refuses what no provisioner serves; in rehearsal it is given in the sandbox. */
const house = await openHouse({ EGRESS_ALLOW: '127.0.0.1' })
startWorkers(house)

const one = '111111111111'
const other = '222222222222'
const third = '333333333333'

/** A tenant where everybody may have any access except `Forbidden`. `serves`: of a webhook, with which it goes live. */
async function stageOf(name: string, serves?: object[]) {
  const stage = await requestStage(house, name)
  await stage.rule('permit (principal, action, resource);')
  await stage.rule('forbid (principal, action == Action::"Forbidden", resource);')
  const provisioner =
    serves === undefined
      ? undefined
      : await stage.created(stage.owner, '/v1/provisioners', {
          name: 'Door system',
          provisioner_type: 'webhook',
          config: { url: 'http://127.0.0.1:9/' },
          serves,
        })
  const { user } = stage.people
  const ask = (body: object) => stage.call(user, 'POST', '/v1/requests', { action: 'ReadOnly', ...body })
  const preview = (body: object) => stage.call(user, 'POST', '/v1/requests/preview', { action: 'ReadOnly', ...body })
  /** Asks, and previews, which answers alike. */
  const both = async (body: object): Promise<Reply> => {
    const [seen, asked] = [await preview(body), await ask(body)]
    assert.equal(seen.status, asked.status === 201 ? 200 : asked.status, `${seen.text} ${asked.text}`)
    if (asked.status === 422) assert.deepEqual(seen.body, asked.body)
    return asked
  }
  return { ...stage, provisioner, ask, preview, both }
}

const account = (id: string) => ({ resource: { type: 'cloud_account', id } })
const bucket = (account_id?: string) => ({
  resource: { type: 'cloud_storage_bucket', id: 'a-bucket' },
  ...(account_id !== undefined && { metadata: { account_id } }),
})
const sets = (...account_ids: string[]) => ({
  resource: { type: 'cloud_permission_set', id: 'arn:aws:sso:::permissionSet/ssoins-1/ps-1' },
  metadata: { account_ids },
})
const unit = { resource: { type: 'cloud_organizational_unit', id: 'ou-abcd-11111111' } }

const isUnserved = ({ status, body, text }: Reply, resource_type: string, account_id: string | null) => {
  assert.deepEqual([status, body.code], [422, 'unprocessable'], text)
  assert.deepEqual(body.details, { resource_type, account_id })
}

suite('in a live tenant', async () => {
  const live = await stageOf('live', [{ resource_type: 'cloud_account', account_ids: [one, other] }])

  test('what a provisioner serves is requested as ever', async () => {
    for (const body of [account(one), sets(one, other)]) assert.equal((await live.both(body)).status, 201)
  })

  test('what none serves is refused, and named', async () => {
    isUnserved(await live.both(account(third)), 'cloud_account', third)
    isUnserved(await live.both(sets(one, third, other)), 'cloud_account', third)
    isUnserved(await live.both(bucket(one)), 'cloud_storage_bucket', one)
    isUnserved(await live.both(bucket()), 'cloud_storage_bucket', null)
  })

  test('nothing is stored for what is refused', async () => {
    const requests = () => house.asSuperuser('select id from access_request where tenant_id = $1', [live.tenant_id])
    const before = await requests()
    isUnserved(await live.ask(account(third)), 'cloud_account', third)
    assert.equal((await requests()).length, before.length)
  })

  test('what policy denies is answered as a denial, served or not: it says nothing of provisioners', async () => {
    for (const id of [one, third]) {
      const reply = await live.ask({ ...account(id), action: 'Forbidden' })
      assert.deepEqual([reply.status, reply.body.code], [403, 'policy_denied'], reply.text)
      assert.equal((await live.preview({ ...account(id), action: 'Forbidden' })).status, 200)
    }
  })

  test('a unit is refused while one of its accounts is not served', async () => {
    await live.cache({ [one]: { units: ['ou-abcd-11111111'] }, [other]: { units: ['ou-abcd-11111111'] } })
    assert.equal((await live.both(unit)).status, 201)
    await live.cache({ [third]: { units: ['ou-abcd-11111111'] } })
    isUnserved(await live.both(unit), 'cloud_account', third)
  })

  test('a provisioner that serves all accounts serves what names none', async () => {
    const all = await stageOf('all accounts', [{ resource_type: 'cloud_storage_bucket' }])
    for (const body of [bucket(), bucket(one)]) assert.equal((await all.both(body)).status, 201)
    isUnserved(await all.both(account(one)), 'cloud_account', one)
  })

  test('a line for one account does not serve what names no account', async () => {
    const some = await stageOf('one account', [{ resource_type: 'cloud_storage_bucket', account_ids: [one] }])
    assert.equal((await some.both(bucket(one))).status, 201)
    isUnserved(await some.both(bucket()), 'cloud_storage_bucket', null)
  })

  test('after the last provisioner was deleted nothing is given in the sandbox', async () => {
    const left = await stageOf('without any', [{ resource_type: 'cloud_account' }])
    const id = await left.ask(account(one))
    assert.equal(id.status, 201, id.text)
    assert.equal((await left.call(left.owner, 'DELETE', `/v1/provisioners/${left.provisioner?.id}`)).status, 204)
    isUnserved(await left.both(account(one)), 'cloud_account', one)
    // The request was made before: its grant fails, and says why.
    const approved = await left.call(left.people.approver, 'POST', `/v1/requests/${id.body.id}/approve`, {})
    assert.equal(approved.status, 200, approved.text)
    await left.grantsAre(String(id.body.id), 'failed', 'failed')
    const [grant] = (await left.call(left.owner, 'GET', `/v1/grants?request_id=${id.body.id}`)).body.data as {
      last_error: string
    }[]
    assert.match(grant?.last_error ?? '', /cloud_account/)
    const given = await house.asSuperuser('select id from entitlement where tenant_id = $1', [left.tenant_id])
    assert.deepEqual(given, [], 'nothing is pretended')
  })
})

test('in rehearsal, what none serves is given in the sandbox', async () => {
  const rehearsing = await stageOf('rehearsing')
  for (const body of [account(one), bucket(), sets(one, third)]) assert.equal((await rehearsing.both(body)).status, 201)
  const id = String((await rehearsing.ask(account(third))).body.id)
  await rehearsing.approve(id)
  await rehearsing.grantsAre(id, 'active', 'successful')
})

test('in rehearsal, a tenant with a sandbox of its own is refused nothing either, and does not fall back', async () => {
  const rehearsing = await stageOf('with a sandbox')
  const sandbox = {
    name: 'Rehearsal',
    provisioner_type: 'sandbox',
    serves: [{ resource_type: 'cloud_account', account_ids: [one] }],
  }
  await rehearsing.created(rehearsing.owner, '/v1/provisioners', sandbox)
  assert.equal((await rehearsing.both(account(third))).status, 201)
})

suite('a sandbox in a live tenant', async () => {
  const live = await stageOf('no sandbox', [{ resource_type: 'cloud_storage_bucket' }])
  const sandbox = { name: 'Rehearsal', provisioner_type: 'sandbox' }
  const serves = [{ resource_type: 'cloud_account' }]
  const path = '/v1/provisioners'

  test('is refused, at once and when it is given something to serve', async () => {
    const refused = await live.call(live.owner, 'POST', path, { ...sandbox, serves })
    assert.deepEqual([refused.status, refused.body.code], [422, 'unprocessable'], refused.text)
    assert.match(String(refused.body.message), /nothing is simulated/)
    const idle = await live.created(live.owner, path, { ...sandbox, serves, enabled: false })
    const empty = await live.created(live.owner, path, sandbox)
    for (const [{ id }, change] of [
      [idle, { enabled: true }],
      [empty, { serves }],
    ] as const) {
      const reply = await live.call(live.owner, 'PATCH', `${path}/${id}`, change)
      assert.deepEqual([reply.status, reply.body.code], [422, 'unprocessable'], reply.text)
      const { body } = await live.call(live.owner, 'PATCH', `${path}/${id}`, { name: 'Another name' })
      const codes = (body.warnings as { code: string }[]).map(({ code }) => code)
      assert.deepEqual([body.mode, codes.includes('simulates_in_live')], ['live', true])
    }
  })

  test('that is from the rehearsal gives nothing: what it serves is refused, and what was approved before fails', async () => {
    const stage = await stageOf('from the rehearsal')
    await stage.created(stage.owner, path, { ...sandbox, serves })
    const early = await stage.ask(account(one))
    assert.equal(early.status, 201, early.text)
    const webhook = { name: 'Door system', provisioner_type: 'webhook', config: { url: 'http://127.0.0.1:9/' } }
    await stage.created(stage.owner, path, { ...webhook, serves: [{ resource_type: 'cloud_storage_bucket' }] })
    isUnserved(await stage.both(account(one)), 'cloud_account', one)
    const id = String(early.body.id)
    assert.equal((await stage.call(stage.people.approver, 'POST', `/v1/requests/${id}/approve`, {})).status, 200)
    await stage.grantsAre(id, 'failed', 'failed')
    assert.deepEqual(await house.asSuperuser('select from entitlement where tenant_id = $1', [stage.tenant_id]), [])
  })
})
