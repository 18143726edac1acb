import assert from 'node:assert/strict'
import { beforeEach, suite, test } from 'node:test'
import { openHouse } from '../../test/support/house.ts'
import { requestStage } from '../../test/support/request-stage.ts'
import { newId } from '../kernel/id.ts'

/** Who requests a bucket and names no account is told to name one where that would help. */
const house = await openHouse()
const [production, playground] = ['840000000001', '840000000002'] as const
let on: Awaited<ReturnType<typeof requestStage>>
beforeEach(async () => {
  on = await requestStage(house, 'accounts to name')
  await on.cache({ [production]: { tags: { env: 'production' } }, [playground]: { tags: { env: 'play' } } })
  await on.rule(
    'permit (principal, action, resource) when { resource.hasTag("env") && resource.getTag("env") == "play" };',
  )
})

async function preview(account_id?: string) {
  const body = {
    resource: { type: 'cloud_storage_bucket', id: 'logs' },
    action: 'ReadOnly',
    ...(account_id !== undefined && { metadata: { account_id } }),
  }
  const reply = await on.call(on.people.user, 'POST', '/v1/requests/preview', body)
  assert.equal(reply.status, 200, reply.text)
  const { allowed, nearest = [] } = reply.body as { allowed: boolean; nearest?: { kind: string }[] }
  return { allowed, kinds: nearest.map(({ kind }) => kind) }
}

suite('a request without an account is told to name one', () => {
  test('where it is permitted in some', async () => {
    assert.deepEqual(await preview(), { allowed: false, kinds: ['account'] })
    assert.deepEqual(await preview(production), { allowed: false, kinds: [] })
    assert.deepEqual(await preview(playground), { allowed: true, kinds: [] })
  })

  test('unless a webhook may not act in the account that it names', async () => {
    const id = newId()
    await house.asSuperuser(
      `insert into provisioner (tenant_id, id, name, provisioner_type, config)
        values ($1, $2, 'hook', 'webhook', '{}')`,
      [on.tenant_id, id],
    )
    await house.asSuperuser(
      `insert into served_resource (tenant_id, resource_type, account_id, provisioner_id)
        values ($1, 'cloud_storage_bucket', '', $2)`,
      [on.tenant_id, id],
    )
    assert.deepEqual(await preview(), { allowed: false, kinds: [] })
    const trusted = await on.call(on.owner, 'PUT', '/v1/settings/policies.trust_named_accounts', { value: 'true' })
    assert.equal(trusted.status, 200)
    assert.deepEqual(await preview(), { allowed: false, kinds: ['account'] })
  })
})
