import assert from 'node:assert/strict'
import { beforeEach, suite, test } from 'node:test'
import { openHouse } from '../../test/support/house.ts'
import { requestStage } from '../../test/support/request-stage.ts'
import { newId } from '../kernel/id.ts'
import { reauthorize } from './reauthorize-request.flow.ts'

/** The account that a request names for a bucket counts only where access is given in that account. */
const house = await openHouse()
const [production, playground, elsewhere] = ['860000000001', '860000000002', '860000000003'] as const

let on: Awaited<ReturnType<typeof requestStage>>
beforeEach(async () => {
  on = await requestStage(house, 'named accounts')
  await on.cache({ [production]: { tags: { env: 'production' } }, [playground]: { tags: { env: 'play' } } })
  await on.rule('@approval_mode("auto") permit (principal, action, resource);')
  await on.rule(
    'forbid (principal, action, resource) when { resource.hasTag("env") && resource.getTag("env") == "production" };',
  )
})

const bucket = (account_id?: string) => ({
  resource: { type: 'cloud_storage_bucket', id: 'logs' },
  action: 'ReadOnly',
  ...(account_id !== undefined && { metadata: { account_id } }),
})
const preview = async (body: object) => {
  const reply = await on.call(on.people.user, 'POST', '/v1/requests/preview', body)
  assert.equal(reply.status, 200, reply.text)
  return reply.body
}
const setting = (value: string) => on.call(on.owner, 'PUT', '/v1/settings/policies.trust_named_accounts', { value })

/** Why access is not given now, after the approval. */
const refusalOf = async (request_id: string) => {
  const { refused } = await reauthorize(house.database.tenant(on.tenant_id), [request_id])
  return refused.get(request_id)?.reason
}

/** A provisioner that serves buckets; a webhook may find the bucket in any account. */
async function serveBuckets(account_id = '', type = 'webhook'): Promise<void> {
  const id = newId()
  await house.asSuperuser(
    `insert into provisioner (tenant_id, id, name, provisioner_type, config)
      values ($1, $2, 'storage', $3, '{"instance_arn": "", "identity_store_id": ""}')`,
    [on.tenant_id, id, type],
  )
  await house.asSuperuser(
    `insert into served_resource (tenant_id, resource_type, account_id, provisioner_id)
      values ($1, 'cloud_storage_bucket', $2, $3)`,
    [on.tenant_id, account_id, id],
  )
}

suite('an account that the request names', () => {
  for (const type of ['sandbox', 'aws-identity-center'])
    test(`counts where the provisioner is of the type ${type}, which acts there`, async () => {
      await serveBuckets('', type)
      assert.equal((await preview(bucket(playground))).approval_mode, 'auto')
      assert.equal((await preview(bucket(production))).allowed, false)
    })

  test('counts in a rehearsal without provisioners', async () => {
    assert.equal((await preview(bucket(playground))).approval_mode, 'auto')
    assert.equal((await preview(bucket(production))).allowed, false)
  })

  for (const [where, account_id] of [
    ['everywhere', ''],
    ['in that account', playground],
  ] as const)
    test(`does not count where a webhook that serves buckets ${where} may find the bucket in another (P27)`, async () => {
      await serveBuckets(account_id)
      const { allowed, reasoning } = await preview(bucket(playground))
      assert.equal(allowed, false)
      assert.match(String(reasoning), /in an unknown account; nothing confirms the account that the request names/)
    })

  test('counts where a webhook serves other accounts only', async () => {
    await serveBuckets(elsewhere)
    assert.equal((await preview(bucket(playground))).approval_mode, 'auto')
  })

  test('stops to count when a webhook takes over before access is given', async () => {
    const id = await on.ask(bucket(playground))
    assert.equal(await refusalOf(id), undefined)
    await serveBuckets()
    assert.match((await refusalOf(id)) ?? '', /policy no longer/)
  })

  test('does not count once the access is planned for a webhook, whatever serves buckets then', async () => {
    const id = await on.ask(bucket(playground))
    assert.equal(await refusalOf(id), undefined)
    await house.asSuperuser(
      `with planned as (
          insert into entitlement (tenant_id, id, provisioner, target_key, target, held_before, observed)
          values ($1, gen_random_uuid(), 'webhook', $2::uuid::text, '{}', false, 'absent') returning id)
        update access_grant set entitlement_id = planned.id, next_look_at = null, lease_until = null
        from planned where tenant_id = $1 and request_id = $2::uuid`,
      [on.tenant_id, id],
    )
    assert.match((await refusalOf(id)) ?? '', /policy no longer/)
  })

  test('counts where the tenant says so, which is a change of the rules', async () => {
    await serveBuckets()
    const versionOf = async () => {
      const [row] = await house.asSuperuser<{ version: string }>(
        'select rule_set_version::text as version from tenant where id = $1',
        [on.tenant_id],
      )
      return Number(row?.version)
    }
    const before = await versionOf()
    assert.equal((await setting('true')).status, 200)
    assert.equal(await versionOf(), before + 1)
    assert.equal((await preview(bucket(playground))).approval_mode, 'auto')
    assert.equal((await preview(bucket(production))).allowed, false)
    assert.equal((await preview(bucket())).allowed, false)
    assert.equal((await setting('true')).status, 200)
    assert.equal(await versionOf(), before + 1)
    assert.equal((await setting('false')).status, 200)
    assert.equal((await preview(bucket(playground))).allowed, false)
  })

  test('counts only if somebody who may change rules says so', async () => {
    const { body: key } = await on.call(on.owner, 'POST', '/v1/api-keys', {
      name: 'settings only',
      scopes: ['settings:read', 'settings:write'],
    })
    // So does the zone by which rules read the weekday and the minute.
    for (const [name, value] of [
      ['policies.trust_named_accounts', 'true'],
      ['timezone.default', 'Pacific/Auckland'],
    ]) {
      const reply = await house.call({
        method: 'PUT',
        url: `/v1/settings/${name}`,
        body: { value },
        api_key: String(key.key),
        tenant_id: on.tenant_id,
      })
      assert.deepEqual([reply.status, reply.body.code], [403, 'forbidden'], name)
      assert.match(reply.text, /policies:write/)
    }
  })
})
