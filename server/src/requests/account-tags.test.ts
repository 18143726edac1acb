import assert from 'node:assert/strict'
import { beforeEach, suite, test } from 'node:test'
import { openHouse } from '../../test/support/house.ts'
import { requestStage } from '../../test/support/request-stage.ts'
import { startWorkers } from '../../test/support/workers.ts'

/** What lies in an account has the account's tags, so that a rule about tags holds for all of it. */
const house = await openHouse()
const production = '810000000001'
const playground = '810000000002'
const unit = 'ou-ab12-81000000'

let on: Awaited<ReturnType<typeof requestStage>>
beforeEach(async () => {
  on = await requestStage(house, 'tags of accounts')
  await on.cache({
    [production]: { units: [unit], tags: { env: 'production' } },
    [playground]: { tags: { env: 'play' } },
  })
})

const inAccount = {
  'an account': (id: string) => on.account(id),
  'a database': (id: string) => ({
    resource: { type: 'cloud_db_instance', id: `arn:aws:rds:eu-west-1:${id}:db:orders` },
    action: 'ReadOnly',
  }),
  'a bucket': (account_id: string) => ({
    resource: { type: 'cloud_storage_bucket', id: 'invoices' },
    action: 'ReadOnly',
    metadata: { account_id },
  }),
  'an instance': (account_id: string) => ({
    resource: { type: 'cloud_compute_instance', id: 'i-0abc' },
    action: 'ReadOnly',
    metadata: { account_id },
  }),
}
const isProduction = 'resource.hasTag("env") && resource.getTag("env") == "production"'
const atOnce = '@approval_mode("auto") permit (principal, action, resource);'

const preview = async (body: object) => {
  const { body: answer } = await on.call(on.people.user, 'POST', '/v1/requests/preview', body)
  return answer
}

for (const [what, bodyIn] of Object.entries(inAccount))
  suite(`${what} in a tagged account`, () => {
    test('is decided by a person where a rule about the tag wants one', async () => {
      await on.rule(atOnce)
      await on.rule(`@approval_mode("auto") forbid (principal, action, resource) when { ${isProduction} };`)
      assert.equal((await preview(bodyIn(production))).approval_mode, 'require')
      assert.equal((await preview(bodyIn(playground))).approval_mode, 'auto')
    })

    test('is refused where a rule forbids the tag, and permitted where a rule wants it', async () => {
      await on.rule(`permit (principal, action, resource) when { resource.hasTag("env") };`)
      await on.rule(`forbid (principal, action, resource) when { ${isProduction} };`)
      assert.equal((await preview(bodyIn(production))).allowed, false)
      assert.equal((await preview(bodyIn(playground))).allowed, true)
      assert.equal((await preview(bodyIn('810000000009'))).allowed, false)
    })

    test('is evaluated with the present tag at the approval, and right before access is given', async () => {
      await on.rule('permit (principal, action, resource);')
      await on.rule(`forbid (principal, action, resource) when { ${isProduction} };`)
      const id = await on.ask(bodyIn(playground))
      await on.cache({ [playground]: { tags: { env: 'production' } } })
      const refused = await on.call(on.people.approver, 'POST', `/v1/requests/${id}/approve`, {})
      assert.deepEqual([refused.status, refused.body.code], [403, 'policy_denied'])
      await on.cache({ [playground]: { tags: { env: 'play' } } })
      await on.approve(id)
      await on.cache({ [playground]: { tags: { env: 'production' } } })
      const workers = startWorkers(house)
      await on.grantsAre(id, 'failed', 'failed')
      await workers.stop()
    })
  })

test('the name of a bucket and of a database is the one that the id states', async () => {
  await on.rule(
    'permit (principal, action, resource) when { resource.name == "invoices" || resource.name == "orders" };',
  )
  assert.equal((await preview(inAccount['a bucket'](playground))).allowed, true)
  assert.equal((await preview(inAccount['a database'](playground))).allowed, true)
  assert.equal((await preview(inAccount['an instance'](playground))).allowed, false)
  assert.equal((await preview(on.account(playground))).allowed, false)
})

test('a tag that the requester writes counts for nothing', async () => {
  await on.rule(`permit (principal, action, resource) when { ${isProduction} };`)
  const body = inAccount['a bucket'](playground)
  const lying = { ...body, metadata: { ...body.metadata, env: 'production', tags: { env: 'production' } } }
  assert.equal((await preview(lying)).allowed, false)
})
