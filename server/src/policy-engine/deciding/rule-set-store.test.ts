import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../../test/support/database.ts'
import { Problem } from '../../kernel/errors.ts'
import { newId } from '../../kernel/id.ts'
import { readWithRules } from './rule-set-store.ts'

const { database, asSuperuser } = await testDatabase()

/** A tenant whose rules have this version. */
async function tenantAt(version: number) {
  const tenant_id = newId()
  await asSuperuser('insert into tenant (id, name, rule_set_version) values ($1, $2, $3)', [
    tenant_id,
    'rules',
    version,
  ])
  return database.tenant(tenant_id)
}

test('what was read before the rules changed is read again, so that both have one version', async () => {
  const tx = await tenantAt(7)
  let reads = 0
  const { ruleSet, version, setting } = await readWithRules(tx, async () => {
    reads += 1
    return reads === 1 ? { version: '6', setting: 'old' } : { version: '7', setting: 'new' }
  })
  assert.deepEqual([reads, ruleSet.version, version, setting], [2, '7', '7', 'new'])
})

test('where nothing is read there are no rules', async () => {
  assert.equal(await readWithRules(await tenantAt(7), async () => undefined), undefined)
})

test('rules that change again and again are a 503', async () => {
  const tx = await tenantAt(7)
  await assert.rejects(
    readWithRules(tx, async () => ({ version: '6' })),
    (error) => error instanceof Problem && error.code === 'unavailable',
  )
})
