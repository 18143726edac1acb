import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { fc } from '../support/chance.ts'
import { inTurns } from '../support/in-turns.ts'
import { policyAttack } from '../support/policy-attack.ts'
import { rounds } from '../support/race.ts'
import { builders, forbiddenConditions } from '../support/worst-texts.ts'

/**
 * The heaviest rules: each is refused or used for a decision; after each the engines still run and another tenant gets its
 * answer.
 */
const { create, change, remove, permitsAnything } = await policyAttack()

const head = 'permit(principal, action, resource)'
const whole = (condition: string, statement = head) => `${statement} when { ${condition} };`
const times = (count: number, text: string) => text.repeat(count)

/** The number of accepted rules by builder: if every rule is refused, nothing is tested. */
let accepted = 0

/** Sends the rule: it is refused as expected, or saved, used for a decision, changed and deleted. */
async function endure(body: Record<string, unknown>) {
  const reply = await create(body)
  if (reply.status !== 201) {
    assert.equal(reply.status, 400, reply.text.slice(0, 300))
    assert.match(String(reply.body.code), /^invalid_(policy|input)$/)
    assert.ok(reply.text.length < 5_000, 'the answer does not repeat the text')
    return
  }
  accepted += 1
  await permitsAnything()
  const { status, text } = await change(reply.body.id, { notice: 'a notice' })
  assert.ok(status === 200 || status === 400, text.slice(0, 300))
  assert.equal((await remove(reply.body.id)).status, 204)
}

suite('nested conditions', () => {
  type Build = (inner: string, n: number) => string
  const some = inTurns<(build: Build) => Promise<void>>(
    [
      (build) => endure({ policy_text: whole(build('context.has_reason', 58)) }),
      (build) => endure({ effect: 'permit', conditions: `when { ${build('context.has_reason', 28)} }` }),
      (build) => endure({ policy_text: whole(build('context.has_reason', 3_000)) }),
    ],
    1,
  )
  for (const [name, build] of Object.entries(builders))
    test(`${name}: refused, or used in a decision`, async () => {
      for (const tried of some()) await tried(build)
    })

  test('random constructs within each other', async () => {
    const layers = fc.array(
      fc.record({ name: fc.constantFrom(...Object.keys(builders)), n: fc.integer({ min: 1, max: 20 }) }),
      {
        minLength: 2,
        maxLength: 5,
      },
    )
    for (const chosen of fc.sample(layers, rounds(6).length)) {
      const condition = chosen.reduce((inner, { name, n }) => builders[name]?.(inner, n) ?? inner, 'context.has_reason')
      await endure({ policy_text: whole(condition) })
    }
  })
})

suite('a forbidden construct', () => {
  test('is refused in every disguise, in a condition and in a text', async () => {
    for (const condition of forbiddenConditions)
      for (const body of [
        { policy_text: whole(condition) },
        { effect: 'forbid', conditions: `when { ${condition} }` },
      ]) {
        const reply = await create(body)
        assert.deepEqual([reply.status, reply.body.code], [400, 'invalid_policy'], condition)
      }
  })
})

const wide = (count: number, make: (index: number) => string) => Array.from({ length: count }, (_, n) => make(n))

const heads: Record<string, string> = {
  'a list of 600 actions': `permit(principal, action in [${wide(600, (n) => `Action::"${n}"`)}], resource);`,
  'a list of one action 600 times': `permit(principal, action in [${wide(600, () => 'Action::"a"')}], resource);`,
  '300 actions over a set of 1,000 sums': whole(
    `[${wide(1_000, () => '1+1')}].contains(context.minute)`,
    `permit(principal, action in [${wide(300, (n) => `Action::"${n}"`)}], resource)`,
  ),
  'an action of 9,900 letters': `permit(principal, action == Action::"${times(9_900, 'a')}", resource);`,
  'a person of 9,900 letters': `permit(principal == User::"${times(9_900, 'a')}", action, resource);`,
  'a resource of 1,000 escapes': `permit(principal, action, resource == cloud_account::"${times(1_000, '\\u{1f600}')}");`,
  'a type of 9,900 letters': `permit(principal is ${times(9_900, 'a')}, action, resource);`,
  'a notice of 9,900 letters': `@notice("${times(9_900, 'a')}") ${head};`,
  'a notice of 1,000 escapes': `@notice("${times(1_000, '\\u{2028}')}") ${head};`,
  'an @id of 9,900 letters': `@id("${times(9_900, 'a')}") ${head};`,
  '900 annotations': `${wide(900, (n) => `@a${n}("") `).join('')}${head};`,
  '900 annotations of prototypes': `${wide(300, () => '@__proto__("x") @constructor("y") ').join('')}${head};`,
  '900 empty annotations': `${times(900, '@notice ')}${head};`,
  '250 statements': times(250, `${head};`),
  '58 clauses of each kind': `${head}${times(29, ' when { true } unless { false }')};`,
  '9,900 semicolons': `${head}${times(9_900, ';')}`,
  'a slot for the principal': whole('true', 'permit(principal == ?principal, action, resource)'),
  'a slot for the resource': whole('true', 'permit(principal, action, resource in ?resource)'),
  'a slot behind is': whole('true', 'permit(principal is User in ?principal, action, resource)'),
}

suite('texts that are large elsewhere', () => {
  for (const [name, policy_text] of Object.entries(heads))
    test(`${name}: refused, or used in a decision`, () => endure({ policy_text }))
})

const fields: Record<string, Record<string, unknown>> = {
  '500 actions of 256 letters': { action_scope_type: 'in', action_ids: wide(500, (n) => `${n}`.padEnd(256, 'x')) },
  '500 actions': { action_scope_type: 'in', action_ids: wide(500, String) },
  'approve 500 times': { action_scope_type: 'in', action_ids: wide(500, () => 'approve') },
  'an id of 2,048 letters that grow when escaped': {
    ...{ principal_scope_type: 'in', principal_entity_type: 'Group', principal_entity_id: times(1_024, '\u{e0001}') },
  },
  'a notice of 1,000 letters that grow when escaped': { notice: times(1_000, '\u2028') },
  'a group of half a surrogate pair': {
    ...{ principal_scope_type: 'is_in', principal_entity_type: 'User', principal_entity_id: 'Group::"\\ud800"' },
  },
  'a quoted id without end': {
    ...{
      principal_scope_type: 'is_in',
      principal_entity_type: 'User',
      principal_entity_id: `Group::"${times(2_000, '\\')}`,
    },
  },
  'a type of 128 letters': { resource_scope_type: 'is', resource_entity_type: times(128, 'a') },
  'NUL in an id': {
    ...{ principal_scope_type: 'is_in', principal_entity_type: 'User', principal_entity_id: 'Group::"\\u0000"' },
  },
  '400,000 clauses': { conditions: times(70_000, 'when { true } ') },
}

suite('fields that are large', () => {
  for (const [name, field] of Object.entries(fields))
    test(`${name}: refused, or used in a decision`, () => endure({ effect: 'permit', ...field }))

  test('NUL that is escaped in the text is refused, because it cannot be stored', () =>
    endure({ policy_text: 'permit(principal == User::"\\0", action, resource);' }))
})

test('enough rules were accepted that decisions were tested too', () => {
  assert.ok(accepted > 40, `only ${accepted} were accepted`)
})
