import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { policyTenants } from '../../test/support/policy-tenant.ts'
import { sliceServer } from '../../test/support/slice-server.ts'
import { createPolicy } from './create-policy.ts'
import { createRule } from './create-rule.ts'
import { deletePolicy } from './delete-policy.ts'

const db = await testDatabase()
const call = await sliceServer(db.database, { createPolicy, createRule, deletePolicy })
const { newTenant, newPolicy, eventsOf } = policyTenants(db, call)

test('every text of a deleted policy is on record, in events of bounded size', async () => {
  const admin = await newTenant()
  const id = await newPolicy(admin)
  const said: string[] = []
  for (const size of [1, 9_000, 9_000, 9_000, 9_000, 9_000, 9_000, 9_000, 9_000, 2]) {
    const conditions = `when { principal.email like "${'x'.repeat(size)}" }`
    const { body } = await call(admin, 'POST', `/v1/policies/${id}/rules`, { effect: 'permit', conditions })
    said.push(String(body.policy_text))
  }
  await call(admin, 'DELETE', `/v1/policies/${id}`)
  const events = (await eventsOf(admin)).filter(({ type }) => type === 'policy.rule_texts')
  const removed = events.slice(said.length)
  const texts = removed.map(({ data }) => data.rules as { before: string }[])
  assert.deepEqual(
    texts
      .flat()
      .map(({ before }) => before)
      .sort(),
    said.sort(),
  )
  assert.equal(texts.length, 2)
})
