import assert from 'node:assert/strict'
import { test } from 'node:test'
import { textEngine } from './engine.ts'
import { publishedSchema } from './published-schema.ts'

test('the published schema has the tenant’s actions, approve, and a comment on circumstances', () => {
  const { cedar } = publishedSchema(['ReadOnlyAccess', 'a "quoted" one'])
  for (const part of ['action "ReadOnlyAccess"', 'action "a \\"quoted\\" one"', 'action "approve"', '1 is Monday'])
    assert.ok(cedar.includes(part), part)
})

test('a rule is valid against both forms of the published schema', () => {
  const rule = 'permit(principal, action == Action::"a", resource) when { context.weekday < 6 };'
  const { cedar, json } = publishedSchema(['a'])
  for (const schema of [cedar, json]) {
    const answer = textEngine.use((engine) => engine.validate({ schema, policies: { staticPolicies: { rule } } }))
    assert.ok(answer.type === 'success' && answer.validationErrors.length === 0)
  }
})
