import assert from 'node:assert/strict'
import { beforeEach, suite, test } from 'node:test'
import { openHouse } from '../../test/support/house.ts'
import { possibleDeciders } from '../../test/support/possible-deciders.ts'
import { requestStage } from '../../test/support/request-stage.ts'
import { reauthorize } from './reauthorize-request.flow.ts'

/** A bucket or an instance whose account nobody knows gets the answer that it would get wherever it may lie. */
const house = await openHouse()
const [production, playground, elsewhere] = ['820000000001', '820000000002', '820000000003'] as const
const [unit, emptyUnit] = ['ou-ab12-82000000', 'ou-ab12-82000009']

let on: Awaited<ReturnType<typeof requestStage>>
beforeEach(async () => {
  on = await requestStage(house, 'unknown accounts')
  await on.cache({
    [production]: { units: [unit], tags: { env: 'production' } },
    [playground]: { tags: { env: 'play' } },
  })
})

const bucket = (account_id?: string) => ({
  resource: { type: 'cloud_storage_bucket', id: 'logs' },
  action: 'ReadOnly',
  ...(account_id !== undefined && { metadata: { account_id } }),
})
const instance = { resource: { type: 'cloud_compute_instance', id: 'i-0abc' }, action: 'ReadOnly' }
const atOnce = '@approval_mode("auto") permit (principal, action, resource);'
const tagged = (key: string, value: string) => `resource.hasTag("${key}") && resource.getTag("${key}") == "${value}"`

const preview = async (body: object) => {
  const reply = await on.call(on.people.user, 'POST', '/v1/requests/preview', body)
  assert.equal(reply.status, 200, reply.text)
  return reply.body
}
/** Why access is not given now, after the approval. */
const refusalOf = async (request_id: string) => {
  const { refused } = await reauthorize(house.database.tenant(on.tenant_id), [request_id])
  return refused.get(request_id)?.reason
}

suite('a bucket without an account (P27)', () => {
  const rows: [sentence: string, rules: string[], expected: { allowed: boolean; mode: string | null; says: RegExp }][] =
    [
      [
        'is approved at once where no rule tells accounts apart',
        [atOnce],
        { allowed: true, mode: 'auto', says: /approved at once/ },
      ],
      [
        'does not escape a forbid by tag',
        [atOnce, `forbid (principal, action, resource) when { ${tagged('env', 'production')} };`],
        {
          allowed: false,
          mode: null,
          says: /forbids .* in an unknown account; name its account in `metadata.account_id`/,
        },
      ],
      [
        'does not escape a forbid with `unless`',
        [atOnce, `forbid (principal, action, resource) unless { ${tagged('env', 'play')} };`],
        { allowed: false, mode: null, says: /forbids/ },
      ],
      [
        'does not escape a forbid by unit',
        [atOnce, `forbid (principal, action, resource in cloud_organizational_unit::"${unit}");`],
        { allowed: false, mode: null, says: /forbids/ },
      ],
      [
        'does not escape a forbid by a unit in which the cache has no account',
        [
          atOnce,
          `forbid (principal, action, resource) when { resource in cloud_organizational_unit::"${emptyUnit}" };`,
        ],
        { allowed: false, mode: null, says: /forbids/ },
      ],
      [
        'does not escape a forbid by account',
        [atOnce, `forbid (principal, action, resource in cloud_account::"${production}");`],
        { allowed: false, mode: null, says: /forbids/ },
      ],
      [
        'does not escape a forbid by an account that is not in the cache',
        [atOnce, `forbid (principal, action, resource) when { resource in cloud_account::"${elsewhere}" };`],
        { allowed: false, mode: null, says: /forbids/ },
      ],
      [
        'does not escape a forbid whose key of the tag is computed',
        [
          atOnce,
          'forbid (principal, action, resource) when { resource.hasTag(if context.has_reason then "x" else "env") };',
        ],
        { allowed: false, mode: null, says: /forbids/ },
      ],
      [
        'is decided by a person where one must decide in one of the accounts',
        [
          atOnce,
          `@approval_mode("auto") forbid (principal, action, resource) when { ${tagged('env', 'production')} };`,
        ],
        {
          allowed: true,
          mode: 'require',
          says: /a person decides on cloud_storage_bucket `logs` in an unknown account/,
        },
      ],
      [
        'is not permitted by a permit for one account',
        [`permit (principal, action, resource in cloud_account::"${playground}");`],
        { allowed: false, mode: null, says: /no rule permits .* in an unknown account; name its account/ },
      ],
      [
        'is not permitted where it may lie in no account of the cache',
        [`permit (principal, action, resource) when { resource.hasTag("env") };`],
        { allowed: false, mode: null, says: /no rule permits/ },
      ],
      [
        'is not held up by rules about the resource itself',
        [atOnce, `@approval_mode("auto") forbid (principal, action, resource == cloud_account::"${production}");`],
        { allowed: true, mode: 'auto', says: /approved at once/ },
      ],
    ]
  for (const [sentence, rules, expected] of rows) {
    test(sentence, async () => {
      for (const rule of rules) await on.rule(rule)
      for (const body of [bucket(), instance]) {
        const { allowed, approval_mode, reasoning } = await preview(body)
        assert.deepEqual([allowed, approval_mode], [expected.allowed, expected.mode])
        if (body !== instance) assert.match(String(reasoning), expected.says)
      }
    })
  }

  test('tells the requester the notices of one account only', async () => {
    await on.rule(atOnce)
    await on.rule(
      `@notice("Nobody touches Manhattan.") forbid (principal, action, resource in cloud_account::"${elsewhere}");`,
    )
    await on.rule(
      `@notice("Production is frozen.") forbid (principal, action, resource) when { ${tagged('env', 'production')} };`,
    )
    const { allowed, notices } = await preview(bucket())
    assert.deepEqual([allowed, (notices as string[]).length], [false, 1])
  })

  test('is answered although a rule reads a tag that nothing can have', async () => {
    await on.rule(atOnce)
    await on.rule('forbid (principal, action, resource) when { resource.hasTag("a\\0b") };')
    await on.rule('forbid (principal, action, resource) when { resource in cloud_account::"\\0" };')
    assert.equal((await preview(bucket())).approval_mode, 'auto')
  })

  test('lies in no account in which access cannot be given', async () => {
    await on.cache({ 'a folder': { tags: { env: 'archive' } } })
    await on.rule(atOnce)
    await on.rule(`forbid (principal, action, resource) when { ${tagged('env', 'archive')} };`)
    assert.equal((await preview(bucket())).approval_mode, 'auto')
  })

  test('is refused as a request as it is in a preview, and recorded', async () => {
    await on.rule(atOnce)
    await on.rule(`forbid (principal, action, resource) when { ${tagged('env', 'production')} };`)
    const refused = await on.call(on.people.user, 'POST', '/v1/requests', bucket())
    assert.deepEqual([refused.status, refused.body.code], [403, 'policy_denied'])
    assert.equal((await on.call(on.people.user, 'POST', '/v1/requests', bucket(playground))).status, 201)
  })

  test('tells the requester neither tags nor names of accounts', async () => {
    await on.rule(atOnce)
    await on.rule(`forbid (principal, action, resource) when { ${tagged('env', 'production')} };`)
    const reply = await on.call(on.people.user, 'POST', '/v1/requests/preview', bucket())
    assert.doesNotMatch(reply.text, new RegExp(`production|${production}|${playground}`))
  })

  test('is decided by an approver only who may decide wherever it may lie', async () => {
    await on.rule('permit (principal, action, resource);')
    const request = await on.ask(bucket())
    await on.rule(`forbid (principal, action == Action::"approve", resource in cloud_organizational_unit::"${unit}");`)
    assert.deepEqual(await possibleDeciders(house.database.tenant(on.tenant_id), request), [])
    const refused = await on.call(on.people.approver, 'POST', `/v1/requests/${request}/approve`, {})
    assert.deepEqual([refused.status, refused.body.code], [403, 'policy_denied'])
    const named = await on.ask(bucket(playground))
    await on.approve(named)
  })

  test('is decided by nobody where a rule reads its tags by name and forbids it in one account', async () => {
    await on.rule('permit (principal, action, resource);')
    const request = await on.ask(bucket())
    for (const value of ['production', 'play']) {
      const isSo = tagged('env', value).replaceAll('resource', 'cloud_storage_bucket::"logs"')
      const takeAway = await on.rule(`forbid (principal, action == Action::"approve", resource) when { ${isSo} };`)
      const refused = await on.call(on.people.approver, 'POST', `/v1/requests/${request}/approve`, {})
      assert.deepEqual([refused.status, refused.body.code], [403, 'policy_denied'], value)
      await takeAway()
    }
    await on.approve(request)
  })

  test('is evaluated again in the accounts that the cache has when access is given', async () => {
    await on.rule('permit (principal, action, resource);')
    await on.rule(`forbid (principal, action, resource) when { ${tagged('secret', 'yes')} };`)
    const id = await on.approve(await on.ask(bucket()))
    assert.equal(await refusalOf(id), undefined)
    await on.cache({ [playground]: { tags: { secret: 'yes' } } })
    assert.match((await refusalOf(id)) ?? '', /policy no longer/)
  })
})

suite('more kinds of account than are evaluated', () => {
  const many = (count: number) =>
    on.cache(
      Object.fromEntries(
        Array.from({ length: count }, (_, index) => [String(830000000000 + index), { tags: { team: `t${index}` } }]),
      ),
    )

  test('are a 400 that says to name the account', async () => {
    await many(200)
    await on.rule('permit (principal, action, resource) when { resource.hasTag("team") };')
    const refused = await on.call(on.people.user, 'POST', '/v1/requests', bucket())
    assert.equal(refused.status, 400)
    assert.match(refused.text, /more than 200 kinds of account.*name its account in `metadata.account_id`/)
    assert.equal((await preview(bucket('830000000007'))).allowed, true)
  })

  test('are only those that the rules can tell apart', async () => {
    await many(300)
    await on.rule('permit (principal, action, resource);')
    await on.rule(`forbid (principal, action, resource) when { ${tagged('env', 'nothing')} };`)
    assert.equal((await preview(bucket())).allowed, true)
  })

  test('refuse the decision of a request that is waiting, and say why', async () => {
    await on.rule('permit (principal, action, resource);')
    const id = await on.ask(bucket())
    await many(201)
    await on.rule(
      '@approval_mode("auto") permit (principal, action, resource) when { resource.hasTag("team") && resource.getTag("team") == "t1" };',
    )
    const refused = await on.call(on.people.approver, 'POST', `/v1/requests/${id}/approve`, {})
    assert.deepEqual([refused.status, refused.body.code], [403, 'policy_denied'])
    assert.match(String(refused.body.message), /more than 200 kinds of account/)
  })
})
