import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { parseStatement } from './parse.ts'
import { requireSame } from './statement.ts'

const source = { field: 'conditions', text: '' } as const
const first = '@notice("a") permit (principal, action == Action::"Read", resource) when { context.break_glass };'

suite('a printed statement and the fields that it was printed from', () => {
  for (const [difference, other] of [
    ['the same text', first],
    ['another layout', first.replaceAll(' ', '\n')],
    ['another order of annotations', `@audit("session") ${first}`],
  ] as const) {
    test(`are accepted with ${difference}`, () => {
      const [printed, assembled] = [parseStatement(other), parseStatement(other)]
      const annotations = Object.fromEntries(Object.entries(assembled.annotations ?? {}).reverse())
      requireSame(printed, { ...assembled, annotations }, source)
    })
  }

  for (const [difference, other] of [
    ['another effect', first.replace('permit', 'forbid')],
    ['another scope', first.replace('"Read"', '"Write"')],
    ['another condition', first.replace('context.break_glass', '!context.break_glass')],
    ['a condition more', first.replace(';', ' unless { context.has_reason };')],
    ['another annotation', first.replace('"a"', '"b"')],
    ['an annotation less', first.replace('@notice("a") ', '')],
  ] as const) {
    test(`are refused with ${difference}`, () => {
      assert.throws(
        () => requireSame(parseStatement(first), parseStatement(other), source),
        /the fields cannot be written as one statement/,
      )
    })
  }
})
