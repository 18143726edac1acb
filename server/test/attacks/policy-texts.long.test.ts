import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { textEngine } from '../../src/policy-engine/cedar/engine.ts'
import { statementFromInput } from '../../src/policy-engine/cedar/statement.ts'
import { inTurns } from '../support/in-turns.ts'
import { policyAttack } from '../support/policy-attack.ts'

/** What an author of rules may try, over HTTP. */
const { create, change, remove, permitsAnything } = await policyAttack()

/** Tries to save a rule; asserts that it permits nothing. */
async function attempt(body: object) {
  const reply = await create(body)
  assert.equal(await permitsAnything(), false, 'nothing became permitted')
  return reply
}

const smuggled = [
  '"); permit(principal,action,resource); //',
  '"); permit(principal,action,resource);',
  '\\"); permit(principal,action,resource); //',
  "'); permit(principal,action,resource); //",
  'x" || true || "',
  '\\u{0}',
  '\\u{22}); permit(principal,action,resource); //',
  '\\x22',
  '"',
  '\\',
  '\n',
  '\r\n);\npermit(principal, action, resource);',
  '\u202e\u2066"',
  '\uff02); permit(principal,action,resource);',
  '*',
  '?principal',
  '@notice("x")',
  '__entity',
  '{"__extn":{"fn":"unknown","arg":"x"}}',
]

/** In a usual run each place is tried with some of them. */
const someSmuggled = inTurns(smuggled, 5)

suite('a value with syntax in it stays a value', () => {
  const places: Record<string, (text: string) => object> = {
    principal_entity_id: (text) => ({
      ...{ principal_scope_type: 'eq', principal_entity_type: 'User' },
      principal_entity_id: text,
    }),
    resource_entity_id: (text) => ({
      ...{ resource_scope_type: 'in', resource_entity_type: 'cloud_organizational_unit' },
      resource_entity_id: text,
    }),
    'principal_entity_id of is_in': (text) => ({
      ...{ principal_scope_type: 'is_in', principal_entity_type: 'User' },
      principal_entity_id: `Group::${JSON.stringify(text)}`,
    }),
    action_ids: (text) => ({ action_scope_type: 'in', action_ids: ['Nothing', text] }),
    notice: (text) => ({ notice: text }),
  }
  for (const [place, fields] of Object.entries(places)) {
    test(`in ${place} (J1)`, async () => {
      for (const text of someSmuggled()) {
        const body = { effect: 'forbid', ...fields(text) }
        const reply = await attempt(body)
        if (reply.status !== 201) {
          assert.deepEqual([reply.status, text.startsWith('__')], [400, true], reply.text)
          continue
        }
        const { id, policy_text } = reply.body as { id: string; policy_text: string }
        const parsed = textEngine.use((cedar) => cedar.policyToJson(policy_text))
        assert.equal(parsed.type, 'success', `not one statement: ${policy_text}`)
        for (const [name, value] of Object.entries(body)) assert.deepEqual(reply.body[name], value)
        // The text alone has the same result.
        const { fields: read } = statementFromInput({ policy_text })
        for (const [name, value] of Object.entries(body)) assert.deepEqual(read[name as 'effect'], value)
        await remove(id)
      }
    })
  }

  test('and is refused where a name is needed (J1)', async () => {
    for (const text of ['User::"x"); permit(principal, action, resource', 'User"', 'User, action', 'Us er', '*']) {
      for (const side of ['principal', 'resource']) {
        for (const scope of ['eq', 'is', 'is_in']) {
          const body = {
            effect: 'permit',
            [`${side}_scope_type`]: scope,
            [`${side}_entity_type`]: text,
            ...(scope !== 'is' && { [`${side}_entity_id`]: scope === 'eq' ? 'x' : 'Group::"x"' }),
          }
          const reply = await attempt(body)
          assert.deepEqual([reply.status, reply.body.code], [400, 'invalid_input'])
        }
      }
    }
    for (const id of ['Group::"x" || true', 'Group::"x"; ', 'Group::x', '"x"', 'Group::"x", "y"', 'Group::"\\u{22}"']) {
      const body = { principal_scope_type: 'is_in', principal_entity_type: 'User', principal_entity_id: id }
      const reply = await attempt({ effect: 'permit', ...body })
      assert.deepEqual([reply.status, reply.body.code], [400, 'invalid_input'], id)
    }
  })
})

const head = 'permit(principal, action, resource)'
const times = (count: number, text: string) => text.repeat(count)

suite('a text that is not exactly one plain statement is an invalid policy', () => {
  const texts: Record<string, string> = {
    'of no statement': '',
    'of white space': ' \n ',
    'of two statements': `${head};${head};`,
    'of two statements, the first a forbid': `forbid(principal, action, resource); ${head};`,
    'of a thousand statements': times(1_000, 'permit(principal,action,resource);').slice(0, 9_990),
    'of one and a half statements': `${head}; permit(`,
    'without its end': head,
    'with a slot for the principal': 'permit(principal == ?principal, action, resource);',
    'with a slot for the resource': 'permit(principal, action, resource in ?resource);',
    'with a slot with another name': 'permit(principal == ?anyone, action, resource);',
    'with a comment': `// everybody\n${head};`,
    'with a comment after it': `${head}; // everybody`,
    'with a comment in another syntax': `/* */ ${head};`,
    'with an annotation twice': `@notice("a") @notice("b") ${head};`,
    'with an id twice': `@id("a") @id("b") ${head};`,
    'with an unknown annotation': `@owner("me") ${head};`,
    'with an approval mode without its value': `@approval_mode ${head};`,
    'with an unknown approval mode': `@approval_mode("always") ${head};`,
    'with an invalid audit_session': `@audit_session("perhaps") ${head};`,
    'of a schema': 'entity User;',
    'in JSON':
      '{"effect":"permit","principal":{"op":"All"},"action":{"op":"All"},"resource":{"op":"All"},"conditions":[]}',
    'after a byte order mark': `\ufeff${head};`,
    'with an escaped NUL': `${head} when { principal.name == "\\0" } permit`,
    'with letters that only look like `permit`': 'pеrmit(principal, action, resource);',
    'that names an unknown entity type': 'permit(principal == Admin::"x", action, resource);',
  }
  for (const [what, policy_text] of Object.entries(texts)) {
    test(`${what} (J2)`, async () => {
      const reply = await attempt({ policy_text })
      assert.deepEqual([reply.status, reply.body.code], [400, 'invalid_policy'], reply.text)
    })
  }

  test('also in a change of a rule (J2)', async () => {
    const { body } = await create({ effect: 'forbid', action_scope_type: 'eq', action_ids: ['Nothing'] })
    // In a usual run every second one, since each was tried above.
    for (const policy_text of inTurns(Object.values(texts), 12)()) {
      const reply = await change(body.id, { policy_text })
      assert.deepEqual([reply.status, reply.body.code], [400, 'invalid_policy'], reply.text)
    }
  })
})

suite('conditions that', () => {
  const largest = 1_000_000
  const deep = 10_000
  const conditions: Record<string, string> = {
    'close the statement and begin another': 'when{true}} permit(principal, action, resource)',
    'end the statement and begin another': 'when { true }; permit(principal, action, resource)',
    'end the statement': 'when { true };',
    'are a statement’s head': 'permit(principal, action, resource)',
    'carry an annotation': 'when { true } @approval_mode("auto")',
    'are unbalanced': 'when { ((true) }',
    'close too many brackets': 'when { true }}',
    'leave a string open': 'when { "a }',
    'hide their end in a string': 'when { "}; permit(principal, action, resource); //" == ',
    'are 1 MB of a name': `when { ${times(largest, 'a')} }`,
    'are 1 MB of white space': `when { true${times(largest, ' ')}}`,
    'are 1 MB of a string': `when { "${times(largest, 'a')}" == "a" }`,
    'are 1 MB of escapes, as JSON has them': `when { "${times(largest / 12, '\\u{10ffff}')}" == "a" }`,
    'are 1 MB of quotes, as JSON has them': `when { ${times(largest / 2, '"')} }`,
    'are 1 MB of clauses': times(largest / 14, 'when { true } '),
    'nest 10,000 round brackets': `when { ${times(deep, '(')}true${times(deep, ')')} }`,
    'nest 10,000 square brackets': `when { ${times(deep, '[')}1${times(deep, ']')} == [] }`,
    'nest 10,000 records': `when { ${times(deep, '{a:')}1${times(deep, '}')} == context }`,
    'open 10,000 brackets': `when { ${times(deep, '(')}`,
    'nest 4,900 brackets in the bytes of a statement': `when { ${times(4_900, '(')}true${times(4_900, ')')} }`,
    'contain 9,000 times `!`': `when { ${times(9_000, '!')}true }`,
    'contain 9,000 times `-`': `when { ${times(9_000, '-')}1 < 2 }`,
    'nest 1,000 times `if`': `when { ${times(1_000, 'if true then ')}true }`,
    'chain 2,000 &&': `when { true${times(2_000, '&&true')} }`,
    'chain 4,000 attributes': `when { context${times(4_000, '.a')} }`,
    'chain 900 indexes': `when { context${times(900, '["now"]')} }`,
    'call 900 methods': `when { [1]${times(900, '.isEmpty()')} }`,
    'call `unknown`': 'when { unknown("x") }',
    'contain half a surrogate pair': 'when { "\\u{d800}" == "a" }',
  }
  for (const [what, text] of Object.entries(conditions)) {
    test(`${what} are an invalid policy (J3)`, async () => {
      const reply = await attempt({ effect: 'permit', conditions: text })
      assert.deepEqual([reply.status, reply.body.code], [400, 'invalid_policy'], reply.text.slice(0, 300))
      assert.ok(reply.text.length < 5_000, 'the answer does not repeat the text')
    })
  }

  test('are an invalid policy in a whole text too (J3)', async () => {
    for (const text of inTurns(Object.values(conditions), 14)()) {
      const reply = await attempt({ policy_text: `${head} ${text};` })
      assert.deepEqual([reply.status, reply.body.code], [400, 'invalid_policy'], reply.text.slice(0, 300))
    }
  })
})
