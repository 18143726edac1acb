import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openHouse } from '../../../test/support/house.ts'
import { replayStage, resultOf, rulesOf } from '../../../test/support/replay-stage.ts'

/** A replay evaluates a question of an unknown account as each of the rule sets tells accounts apart. */
const house = await openHouse()
const { stage, replayed } = replayStage(house)

const bucket = { resource: { type: 'cloud_storage_bucket', id: 'logs' }, action: 'ReadOnly' }
const tagged = (key: string, value: string) => `resource.hasTag("${key}") && resource.getTag("${key}") == "${value}"`
const accounts = (count: number, tags: (index: number) => Record<string, string>) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [String(870000000000 + index), { tags: tags(index) }]))

/** The rule `rule` added to a policy of the tenant. */
async function adding(on: Awaited<ReturnType<typeof stage>>, policy_text: string) {
  const [policy] = await rulesOf(on)
  return { changes: [{ create_rule: { policy_id: policy?.id, rule: { policy_text } } }] }
}

suite('a replay of a draft that tells accounts apart by', () => {
  test('more kinds than are evaluated reports that such requests are refused', async () => {
    const on = await stage()
    await on.cache(accounts(210, (index) => ({ team: `t${index}` })))
    await on.rule('permit (principal, action, resource);')
    await on.ask(bucket)
    const draft = await adding(on, `permit (principal, action, resource) when { ${tagged('team', 't1')} };`)
    const { counts } = resultOf(await replayed(on, draft))
    assert.deepEqual([counts.unchanged, counts.newly_denied], [0, 1])
  })

  test('another tag than the current rules is compared with them, though both together are too many', async () => {
    const on = await stage()
    await on.cache(accounts(225, (index) => ({ a: `${index % 15}`, b: `${Math.floor(index / 15)}` })))
    await on.rule('permit (principal, action, resource);')
    await on.rule(`forbid (principal, action, resource) when { ${tagged('a', 'nothing')} };`)
    await on.ask(bucket)
    const { changes } = await adding(on, `forbid (principal, action, resource) when { ${tagged('b', '3')} };`)
    const draft = { changes: [...changes, ...(await deletingAbout(on, '"a"'))] }
    const { counts } = resultOf(await replayed(on, draft))
    assert.deepEqual([counts.unchanged, counts.newly_denied], [0, 1])
  })
})

/** Deletes the rules whose text holds this. */
async function deletingAbout(on: Awaited<ReturnType<typeof stage>>, text: string) {
  const rules = (await rulesOf(on)).flatMap((policy) => policy.rules).filter((rule) => rule.policy_text.includes(text))
  assert.ok(rules.length > 0)
  return rules.map(({ id }) => ({ delete_rule: { rule_id: id } }))
}
