import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { changeStatement } from './changed-statement.ts'
import { readStatement, statementFromInput } from './statement.ts'

describe('a change', () => {
  const before = statementFromInput({
    effect: 'permit',
    principal_scope_type: 'in',
    principal_entity_type: 'Group',
    principal_entity_id: 'g',
    conditions: 'when { context.has_reason }',
    notice: 'before',
    approval_mode: 'auto',
  }).fields

  test('of the notice keeps the other fields and rewrites the text', () => {
    const { fields } = changeStatement(before, { notice: 'after' })
    assert.equal(fields.notice, 'after')
    assert.equal(fields.conditions, before.conditions)
    assert.match(fields.policy_text, /@notice\("after"\)/)
  })

  test('of the annotations keeps the author’s text and its @id, however long it would be printed', () => {
    const head = `permit( principal,action,resource )when{[${'1,'.repeat(4_800)}1].contains(context.minute)};`
    const own = statementFromInput({ policy_text: `@id("mine")@notice("before")${head}` }).fields
    const { fields } = changeStatement(own, { notice: 'after', audit_session: true, effect: 'permit' })
    assert.match(fields.policy_text, /^@audit_session\("true"\)\s@id\("mine"\)\s@notice\("after"\)\s/)
    assert.ok(fields.policy_text.endsWith(head))
    assert.deepEqual(readStatement(fields.policy_text), fields)
  })

  test('of a scope type resets that scope', () => {
    const { fields } = changeStatement(before, { principal_scope_type: 'any' })
    assert.equal(fields.principal_entity_id, undefined)
  })

  test('of the effect drops the approval mode, which would mean something else', () => {
    assert.equal(changeStatement(before, { effect: 'forbid' }).fields.approval_mode, undefined)
    const text = 'forbid(principal, action, resource);'
    assert.equal(changeStatement(before, { policy_text: text }).fields.approval_mode, undefined)
  })

  test('by empty text clears notice and conditions', () => {
    const { fields } = changeStatement(before, { notice: '', conditions: '' })
    assert.equal(fields.notice, undefined)
    assert.equal(fields.conditions, undefined)
  })
})
