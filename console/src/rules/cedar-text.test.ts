import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { cedarOf, quoted, tokensOf, unquoted } from './cedar-text.ts'

suite('a string of Cedar', () => {
  const cases: [value: string, text: string][] = [
    ['production', '"production"'],
    ['', '""'],
    ['a "quoted" one', '"a \\"quoted\\" one"'],
    ['ends with \\', '"ends with \\\\"'],
    ['\\" || true || "', '"\\\\\\" || true || \\""'],
    ['two\nlines\t', '"two\\u{a}lines\\u{9}"'],
    ['backwards \u202e', '"backwards \\u{202e}"'],
    ['Zürich 🏔', '"Zürich 🏔"'],
  ]
  for (const [value, text] of cases)
    test(`of ${JSON.stringify(value)} is one token, and gives the value again`, () => {
      assert.equal(quoted(value), text)
      assert.deepEqual(tokensOf(text), [text])
      assert.equal(unquoted(text), value)
    })

  const spellings: [text: string, value: string | undefined][] = [
    [String.raw`"\n\r\t\0\\\'\""`, '\n\r\t\0\\\'"'],
    [String.raw`"\x41\u{1F3D4}"`, 'A🏔'],
    [String.raw`"\q"`, undefined],
    [String.raw`"\u{110000}"`, undefined],
    [String.raw`"\u41"`, undefined],
  ]
  for (const [text, value] of spellings)
    test(`${text} is ${value === undefined ? 'no string' : JSON.stringify(value)}`, () =>
      assert.equal(unquoted(text), value))
})

test('a rule is one statement, in which each name is one string', () => {
  const text = cedarOf({
    ...{ effect: 'permit', approval_mode: 'auto', action_scope_type: 'eq', action_ids: ['Read"; forbid'] },
    ...{ principal_scope_type: 'in', principal_entity_type: 'Group', principal_entity_id: 'a"b' },
    ...{ resource_scope_type: 'is_in', resource_entity_type: 'cloud_db_instance' },
    resource_entity_id: 'cloud_account::"111122223333"',
    conditions: 'when { context.minute >= 540 }',
  })
  assert.equal(
    text,
    `@approval_mode("auto")
permit (
  principal in Group::"a\\"b",
  action == Action::"Read\\"; forbid",
  resource is cloud_db_instance in cloud_account::"111122223333"
) when { context.minute >= 540 };`,
  )
})
