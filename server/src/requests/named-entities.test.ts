import assert from 'node:assert/strict'
import { beforeEach, suite, test } from 'node:test'
import { openHouse } from '../../test/support/house.ts'
import { possibleDeciders } from '../../test/support/possible-deciders.ts'
import { requestStage } from '../../test/support/request-stage.ts'
import { startWorkers } from '../../test/support/workers.ts'
import { newId } from '../kernel/id.ts'

/** A rule that names an entity reads what the tenant knows of it, at each decision. */
const house = await openHouse()
const [account, other] = ['840000000001', '840000000002']
const unit = 'ou-ab12-84000000'
const permit = 'permit (principal, action, resource);'

let on: Awaited<ReturnType<typeof requestStage>>
beforeEach(async () => {
  on = await requestStage(house, 'named entities')
  await on.cache({ [account]: { units: [unit], tags: { state: 'frozen' } } })
})

const isAllowed = async (body: object = on.account(other)) => {
  const reply = await on.call(on.people.user, 'POST', '/v1/requests/preview', body)
  assert.equal(reply.status, 200, reply.text)
  return reply.body.allowed
}
const user = (id: string) => `User::"${id}"`
const [here, there] = [`cloud_account::"${account}"`, `cloud_account::"${other}"`]

suite('a rule that names', () => {
  test('a user reads that user’s facts, roles and groups', async () => {
    const { owner, people } = on
    for (const [condition, holds] of [
      [`${user(owner.user_id)}.is_owner`, true],
      [`${user(people.admin.user_id)}.is_owner`, false],
      [`${user(people.approver.user_id)} in Role::"approver"`, true],
      [`${user(people.user.user_id)} in Role::"approver"`, false],
      [`${user(people.approver.user_id)}.scopes.contains("requests:approve")`, true],
      [`(if context.has_reason then principal else ${user(owner.user_id)}).is_owner`, true],
    ] as const) {
      const takeAway = await on.rule(`permit (principal, action, resource) when { ${condition} };`)
      assert.equal(await isAllowed(), holds, condition)
      await takeAway()
    }
  })

  test('an account or a database reads tags, name and units of the account cache', async () => {
    const database = `cloud_db_instance::"arn:aws:rds:eu-west-1:${account}:db:orders"`
    for (const [condition, holds] of [
      [`${here}.hasTag("state") && ${here}.getTag("state") == "frozen"`, true],
      [`${here}.name == "account ${account}"`, true],
      [`${here} in cloud_organizational_unit::"${unit}"`, true],
      [`${here} in cloud_organizational_unit::"ou-ab12-84000001"`, false],
      [`${database}.hasTag("state")`, true],
      [`${database} in ${here} && ${database} in cloud_organizational_unit::"${unit}"`, true],
    ] as const) {
      const takeAway = await on.rule(`permit (principal, action, resource) when { ${condition} };`)
      assert.equal(await isAllowed(), holds, condition)
      await takeAway()
    }
  })

  test('an entity that the tenant does not have finds no attributes, no tags and no parents', async () => {
    for (const [condition, holds] of [
      [`${user(newId())} has email`, false],
      [`cloud_account::"840000000003" has name`, false],
      [`${there}.hasTag("state")`, false],
      [`${there} in cloud_organizational_unit::"${unit}"`, false],
      [`${user(newId())}.is_owner`, false],
    ] as const) {
      const takeAway = await on.rule(`permit (principal, action, resource) when { ${condition} };`)
      assert.equal(await isAllowed(), holds, condition)
      await takeAway()
    }
    await on.rule(permit)
    assert.equal(await isAllowed(), true)
    // To read an attribute of it is an error, and an error in a forbid denies.
    await on.rule(`forbid (principal, action, resource) when { ${user(newId())}.is_owner };`)
    assert.equal(await isAllowed(), false)
  })

  test('an entity of another tenant finds nothing of it', async () => {
    const away = await requestStage(house, 'another tenant')
    await away.cache({ [other]: { tags: { state: 'frozen' } } })
    for (const condition of [`${user(away.owner.user_id)} has email`, `${there}.hasTag("state")`]) {
      const takeAway = await on.rule(`permit (principal, action, resource) when { ${condition} };`)
      assert.equal(await isAllowed(), false, condition)
      await takeAway()
    }
  })
})

const isFrozen = `${here}.hasTag("state") && ${here}.getTag("state") == "frozen"`
const frozen = `forbid (principal, action, resource) when { ${isFrozen} };`
const thaw = () => on.cache({ [account]: { tags: { state: 'open' } } })
const freeze = () => on.cache({ [account]: { tags: { state: 'frozen' } } })

suite('what a rule reads of an entity is what is known', () => {
  test('when the request is made, and when it is decided', async () => {
    await on.rule(permit)
    await on.rule(frozen)
    const refused = await on.call(on.people.user, 'POST', '/v1/requests', on.account(other))
    assert.deepEqual([refused.status, refused.body.code], [403, 'policy_denied'])
    await thaw()
    const id = await on.ask(on.account(other))
    await freeze()
    const late = await on.call(on.people.approver, 'POST', `/v1/requests/${id}/approve`, {})
    assert.deepEqual([late.status, late.body.code], [403, 'policy_denied'])
    await thaw()
    await on.approve(id)
    await freeze()
    const workers = startWorkers(house)
    await on.grantsAre(id, 'failed', 'failed')
    await workers.stop()
  })

  test('when it is asked who may decide', async () => {
    await on.rule(permit)
    await thaw()
    const id = await on.ask(on.account(other))
    const mayDecide = async () => (await possibleDeciders(house.database.tenant(on.tenant_id), id)).length
    const before = await mayDecide()
    await on.rule(frozen.replace('action,', 'action == Action::"approve",'))
    assert.equal(await mayDecide(), before)
    await freeze()
    assert.deepEqual([before > 0, await mayDecide()], [true, 0])
  })
})

suite('the answer to saving a rule', () => {
  const save = async (policy_text: string) => {
    const { body: policy } = await on.call(on.owner, 'POST', '/v1/policies', { name: newId() })
    const { status, body } = await on.call(on.owner, 'POST', `/v1/policies/${policy.id}/rules`, { policy_text })
    return {
      policy_id: String(policy.id),
      status,
      code: body.code,
      message: String(body.message),
      warnings: body.warnings as string[],
    }
  }

  test('names each entity that the rule reads, and those of which nothing is known', async () => {
    const missing = newId()
    const { warnings } = await save(
      `permit (principal, action == Action::"x", resource) when { ${user(on.owner.user_id)}.is_owner && ${here}.hasTag("a") && ${user(missing)} has email };`,
    )
    const found = warnings.filter((text) => text.startsWith('this rule reads'))
    assert.deepEqual(found, [
      `this rule reads what is known of \`${user(on.owner.user_id)}\`, \`${here}\` at each decision`,
      `this rule reads \`${user(missing)}\`, of which nothing is known: no attributes, no tags and no parents`,
    ])
    const silent = await save(
      `permit (principal == ${user(on.owner.user_id)}, action == Action::"x", resource in ${here});`,
    )
    assert.deepEqual(
      (silent.warnings ?? []).filter((text) => text.startsWith('this rule reads')),
      [],
    )
  })

  const reading = (from: number, count: number) => {
    const each = Array.from(
      { length: count },
      (_, index) => `cloud_account::"${850000000000 + from + index}".hasTag("a")`,
    )
    return `permit (principal, action == Action::"x", resource) when { [${each.join(', ')}].contains(true) };`
  }

  test('is 400 where the rules would read more than 50 entities, whichever way they come into force', async () => {
    assert.equal((await save(reading(0, 50))).status, 201)
    const beyond = await save(reading(50, 1))
    assert.deepEqual([beyond.status, beyond.code], [400, 'invalid_policy'])
    assert.match(beyond.message, /51 entities .* at most 50/)
    // The same ones once more are fine.
    const again = await save(reading(10, 20))
    assert.equal(again.status, 201)

    const imported = await on.call(on.owner, 'PUT', `/v1/policies/${beyond.policy_id}/cedar`, { cedar: reading(50, 1) })
    assert.deepEqual([imported.status, imported.body.code], [400, 'invalid_policy'])

    const { body: off } = await on.call(on.owner, 'POST', '/v1/policies', { name: 'off', enabled: false })
    const idle = await on.call(on.owner, 'POST', `/v1/policies/${off.id}/rules`, { policy_text: reading(60, 1) })
    assert.equal(idle.status, 201)
    const enabled = await on.call(on.owner, 'PATCH', `/v1/policies/${off.id}`, { enabled: true })
    assert.deepEqual([enabled.status, enabled.body.code], [400, 'invalid_policy'])

    const plain = await on.call(on.owner, 'POST', `/v1/policies/${beyond.policy_id}/rules`, { policy_text: permit })
    assert.equal(plain.status, 201)
    const changed = await on.call(on.owner, 'PATCH', `/v1/policies/${beyond.policy_id}/rules/${plain.body.id}`, {
      policy_text: reading(70, 1),
    })
    assert.deepEqual([changed.status, changed.body.code], [400, 'invalid_policy'])

    const draft = { changes: [{ create_rule: { policy_id: beyond.policy_id, rule: { policy_text: reading(80, 1) } } }] }
    const tried = await on.call(on.owner, 'POST', '/v1/policies/test', { draft, cases: [] })
    assert.deepEqual([tried.status, tried.body.code], [400, 'invalid_policy'])
  })
})

test('a rule about deciding reads the bucket that is requested as the request knows it', async () => {
  await on.rule(permit)
  const body = {
    resource: { type: 'cloud_storage_bucket', id: 'logs' },
    action: 'ReadOnly',
    metadata: { account_id: account },
  }
  const id = await on.ask(body)
  const isHere = `cloud_storage_bucket::"logs" in ${here}`
  await on.rule(`forbid (principal, action == Action::"approve", resource) when { ${isHere} };`)
  const refused = await on.call(on.people.approver, 'POST', `/v1/requests/${id}/approve`, {})
  assert.deepEqual([refused.status, refused.body.code], [403, 'policy_denied'])
})

suite('drafts, cases and invariants', () => {
  const draftOf = async (policy_text: string) => {
    const { body } = await on.call(on.owner, 'POST', '/v1/policies', { name: newId() })
    return { changes: [{ create_rule: { policy_id: String(body.id), rule: { policy_text } } }] }
  }
  const oneCase = {
    case: 'everyone may read',
    required: true,
    asks: 'ReadOnly',
    resource: { type: 'cloud_account', id: other },
    expect: 'permit',
  }

  test('a case is evaluated with what is known of the entities that the rules read', async () => {
    await on.rule(permit)
    await on.rule(frozen)
    const outcome = async () => {
      const { body } = await on.call(on.owner, 'POST', '/v1/policies/test', { cases: [oneCase] })
      return body.passed
    }
    assert.equal(await outcome(), 0)
    await thaw()
    assert.equal(await outcome(), 1)
  })

  test('a case is evaluated so on the rules of a draft, and when a change must keep it', async () => {
    await on.rule(permit)
    const draft = await draftOf(frozen)
    const tried = await on.call(on.owner, 'POST', '/v1/policies/test', { cases: [oneCase], draft })
    assert.equal(tried.body.failed, 1, tried.text)
    assert.equal((await on.call(on.owner, 'PUT', '/v1/policies/cases', { cases: [oneCase] })).body.passed, 1)
    const { create_rule } = draft.changes[0] as { create_rule: { policy_id: string; rule: object } }
    const url = `/v1/policies/${create_rule.policy_id}/rules`
    const refused = await on.call(on.owner, 'POST', url, create_rule.rule)
    assert.deepEqual([refused.status, refused.body.code], [409, 'case_broken'])
    await thaw()
    assert.equal((await on.call(on.owner, 'POST', url, create_rule.rule)).status, 201)
  })

  test('a replay refuses a draft that reads too many', async () => {
    const each = Array.from({ length: 51 }, (_, index) => `cloud_account::"${855000000000 + index}".hasTag("a")`)
    const draft = await draftOf(`permit (principal, action, resource) when { [${each.join(', ')}].contains(true) };`)
    const reply = await on.call(on.owner, 'POST', '/v1/policies/replay', { draft })
    assert.deepEqual([reply.status, reply.body.code], [400, 'invalid_policy'])
  })

  for (const [what, scope, condition] of [
    ['an account', 'cloud_accounts:read', () => `${here}.hasTag("state")`],
    ['a user', 'users:read', () => `${user(on.owner.user_id)}.is_owner`],
  ] as const)
    test(`a draft tells nothing of ${what} to a caller without ${scope}`, async () => {
      const draft = await draftOf(`permit (principal, action, resource) when { ${condition()} };`)
      const as = async (scopes: string[], url: string, body: object) => {
        const { body: made } = await on.call(on.owner, 'POST', '/v1/api-keys', { name: newId(), scopes })
        return house.call({ method: 'POST', url, api_key: String(made.key), tenant_id: on.tenant_id, body })
      }
      const checks = [{ permits_nothing_new: true }]
      for (const [url, body, status] of [
        ['/v1/policies/test', { draft, cases: [oneCase] }, 200],
        ['/v1/policies/invariants', { draft, checks }, 200],
        ['/v1/policies/replay', { draft }, 202],
      ] as const) {
        const refused = await as(['policies:read', 'audit:read'], url, body)
        assert.deepEqual([refused.status, refused.body.code], [403, 'forbidden'], url)
        assert.ok(refused.text.includes(scope), refused.text)
        const answered = await as(['policies:read', 'audit:read', scope], url, body)
        assert.equal(answered.status, status, answered.text)
      }
    })

  test('an invariant is searched with what is known of them', async () => {
    await on.rule(`@approval_mode("auto") permit (principal, action, resource) unless { ${isFrozen} };`)
    const checks = [
      { no_auto_approval: { resources: [{ scope_type: 'eq', entity_type: 'cloud_account', entity_id: other }] } },
    ]
    const result = async () => {
      const reply = await on.call(on.owner, 'POST', '/v1/policies/invariants', { checks })
      assert.equal(reply.status, 200, reply.text)
      return (reply.body.checks as { result: string }[])[0]?.result
    }
    assert.equal(await result(), 'not_found_in_search')
    await thaw()
    assert.equal(await result(), 'counterexample')
  })
})
