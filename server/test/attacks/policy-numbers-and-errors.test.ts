import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openHouse, type Person, type Reply } from '../support/house.ts'

/** Numbers that JavaScript's JSON would change, patterns on which a naive matcher would never end, and rules that fail. */
const house = await openHouse()
const tenant = await house.tenant('numbers')
const { tenant_id, owner, people } = tenant

function call({ token }: Person, method: string, url: string, body?: unknown): Promise<Reply> {
  return house.call({ method, url, token, tenant_id, ...(body !== undefined && { body }) })
}

const policy = await call(owner, 'POST', '/v1/policies', { name: 'a policy' })
const rules = `/v1/policies/${policy.body.id}/rules`
const create = async (body: object) => {
  const made = await call(owner, 'POST', rules, body)
  assert.equal(made.status, 201, made.text)
  return made.body as { id: string; conditions: string; policy_text: string }
}

/** A separate account for each test, so that no other test's rule applies to it. */
let accounts = 300_000_000_000
function newAccount(): string {
  accounts += 1
  return String(accounts)
}

const on = (id: string) => ({
  ...{ resource_scope_type: 'eq', resource_entity_type: 'cloud_account' },
  resource_entity_id: id,
})
const ask = (id: string, more: object = {}) =>
  call(people.user, 'POST', '/v1/requests', { resource: { type: 'cloud_account', id }, action: 'ReadOnly', ...more })

suite('a whole number in a rule', () => {
  for (const number of ['9223372036854775807', '-9223372036854775808', '9007199254740993', '-9007199254740993']) {
    test(`${number} is stored and compared exactly (J4)`, async () => {
      const [equal, beside] = [newAccount(), newAccount()]
      const neighbour = String(BigInt(number) + (number.endsWith('7') ? -1n : 1n))
      const same = await create({ effect: 'permit', ...on(equal), conditions: `when { ${number} == ${number} }` })
      assert.ok(same.conditions.includes(number) && same.policy_text.includes(number))
      await create({ effect: 'permit', ...on(beside), conditions: `when { ${number} == ${neighbour} }` })
      const read = await call(owner, 'GET', `${rules}/${same.id}`)
      assert.equal(read.body.policy_text, same.policy_text)
      const again = await call(owner, 'POST', rules, { policy_text: same.policy_text })
      assert.ok(String(again.body.conditions).includes(number))
      assert.equal((await ask(equal)).status, 201)
      assert.equal((await ask(beside)).body.code, 'policy_denied', `${number} is not ${neighbour}`)
    })
  }

  for (const number of ['9223372036854775808', '-9223372036854775809', '1e3', '1.5', '0x10', 'NaN', '١٢']) {
    test(`${number} is refused (J4)`, async () => {
      const conditions = `when { context.duration_seconds < ${number} }`
      const made = await call(owner, 'POST', rules, { effect: 'permit', conditions })
      assert.deepEqual([made.status, made.body.code], [400, 'invalid_policy'])
    })
  }

  test('beside the question is exact, or the question is refused (J4)', async () => {
    const id = newAccount()
    await create({ effect: 'permit', ...on(id), conditions: 'when { context.duration_seconds == 3600 }' })
    for (const duration of ['9007199254740993', '9223372036854775807', '3600.0000000000000001', '3.6e3', '-0']) {
      const body = `{"resource":{"type":"cloud_account","id":"${id}"},"action":"ReadOnly","duration_seconds":${duration}}`
      const reply = await house.call({ method: 'POST', url: '/v1/requests', token: people.user.token, tenant_id, body })
      const isExact = duration === '3.6e3' && reply.status === 201 && reply.body.duration_seconds === 3_600
      assert.ok(isExact || reply.status === 400, `${duration}: ${reply.text}`)
    }
    assert.equal((await ask(id, { duration_seconds: 3_600 })).status, 201)
  })
})

suite('a pattern of many wildcards', () => {
  test('is evaluated, whatever it is matched with (J4)', async () => {
    const id = newAccount()
    await call(owner, 'PUT', '/v1/cloud/accounts', {
      resources: [{ id, account_id: id, name: 'a'.repeat(200), metadata: { tag: 'a'.repeat(15_000) } }],
    })
    const almost = `${'*a'.repeat(90)}*b`
    const longest = `${'*a'.repeat(4_500)}*b`
    await create({ effect: 'permit', ...on(id), conditions: `when { resource.name like "${almost}" }` })
    const tagged = `when { resource.hasTag("tag") && resource.getTag("tag") like "${longest}" }`
    await create({ effect: 'permit', ...on(id), conditions: tagged })
    assert.equal((await ask(id)).body.code, 'policy_denied')
    await create({ effect: 'permit', ...on(id), conditions: `when { resource.name like "${'*a'.repeat(90)}" }` })
    assert.equal((await ask(id)).status, 201)
  })
})

const overflows = '9223372036854775807 + context.duration_seconds > 0'

suite('a rule that fails in evaluation', () => {
  /** The last decision about it, and its entry in the audit log. */
  async function kept(id: string) {
    const [decision] = await house.asSuperuser<{ allowed: boolean; errors: { rule_id: string }[] }>(
      `select allowed, errors from decision where question -> 'resource' ->> 'id' = $1
        order by decided_at desc limit 1`,
      [id],
    )
    return decision
  }

  test('and forbids, denies, and the audit log says so (J5)', async () => {
    const id = newAccount()
    await create({ effect: 'permit', ...on(id), approval_mode: 'auto' })
    const failing = await create({ effect: 'forbid', ...on(id), conditions: `when { ${overflows} }` })
    assert.equal((await ask(id)).body.code, 'policy_denied')
    const decision = await kept(id)
    assert.deepEqual([decision?.allowed, decision?.errors[0]?.rule_id], [false, failing.id])
    const events = await call(owner, 'GET', '/v1/audit-events?type=request.refused')
    const [event] = events.body.data as { data: { resource: { id: string }; failed_rule_ids?: string[] } }[]
    assert.equal(event?.data.resource.id, id)
    assert.deepEqual(event?.data.failed_rule_ids, [failing.id])
  })

  test('and forbids automatic approval, leaves the approval to a person (J5)', async () => {
    const id = newAccount()
    await create({ effect: 'permit', ...on(id), approval_mode: 'auto' })
    await create({ effect: 'forbid', ...on(id), conditions: `when { ${overflows} }`, approval_mode: 'auto' })
    const reply = await ask(id)
    assert.deepEqual([reply.status, reply.body.status], [201, 'pending'])
  })

  test('and permits, permits nothing, and does not keep another from permitting (J5)', async () => {
    const id = newAccount()
    const failing = await create({ effect: 'permit', ...on(id), conditions: `when { ${overflows} }` })
    assert.equal((await ask(id)).body.code, 'policy_denied')
    assert.equal((await kept(id))?.errors[0]?.rule_id, failing.id)
    await create({ effect: 'permit', ...on(id) })
    assert.equal((await ask(id)).status, 201)
    assert.equal((await kept(id))?.errors[0]?.rule_id, failing.id)
  })

  test('when it is decided, keeps the approver from deciding (J5)', async () => {
    const id = newAccount()
    await create({ effect: 'permit', ...on(id) })
    const reply = await ask(id)
    const forbid = { effect: 'forbid', action_scope_type: 'eq', action_ids: ['approve'] }
    const failing = await create({
      ...{ ...forbid, resource_scope_type: 'in', resource_entity_type: 'cloud_account', resource_entity_id: id },
      conditions: `when { ${overflows} }`,
    })
    const approved = await call(people.approver, 'POST', `/v1/requests/${reply.body.id}/approve`, {})
    assert.deepEqual([approved.status, approved.body.code], [403, 'policy_denied'])
    const events = await call(owner, 'GET', `/v1/audit-events?subject=${reply.body.id}&type=access.refused`)
    const [event] = events.body.data as { data: { failed_rule_ids?: string[] } }[]
    assert.deepEqual(event?.data.failed_rule_ids, [failing.id])
  })
})
