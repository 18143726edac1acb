import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ResourceReference } from '../policy-engine/cedar/question.ts'
import { accountInId, resourceIn } from './resource.ts'

const account = '111111111111'
const unit = 'ou-ab12-12345678'
const accounts = new Map([[account, { name: 'shop', tags: { env: 'prod' }, organizational_unit_ids: [unit] }]])
const [inUnit, inAccount] = [
  { type: 'cloud_organizational_unit', id: unit },
  { type: 'cloud_account', id: account },
]
const database = `arn:aws:rds:eu-west-1:${account}:db:orders`

for (const [reference, home, name] of [
  [{ type: 'cloud_account', id: account }, account, 'shop'],
  [{ type: 'cloud_storage_bucket', id: 'logs' }, undefined, 'logs'],
  [{ type: 'cloud_db_instance', id: database }, account, 'orders'],
  [{ type: 'cloud_compute_instance', id: 'i-0abc' }, undefined, ''],
  [{ type: 'cloud_organizational_unit', id: unit }, undefined, ''],
] as [ResourceReference, string | undefined, string][]) {
  test(`policy sees of a ${reference.type} what its id and its account state`, () => {
    assert.equal(accountInId(reference), home)
    const isAccount = reference.type === 'cloud_account'
    assert.deepEqual(resourceIn(reference, account, accounts), {
      ...reference,
      ...{ name, tags: { env: 'prod' } },
      parents: isAccount ? [inUnit] : [inAccount, inUnit],
    })
    const uncached = { ...reference, tags: {}, name: isAccount ? '' : name }
    const parents = isAccount ? [] : [{ type: 'cloud_account', id: '999999999999' }]
    const unknown = { ...uncached, parents, unknown_account: '999999999999' }
    assert.deepEqual(resourceIn(reference, '999999999999', accounts), unknown)
    assert.deepEqual(resourceIn(reference, undefined, accounts), { ...uncached, parents: [] })
  })
}
