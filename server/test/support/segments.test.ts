// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the texts are source code
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { segmentsOf } from './segments.ts'

/** A text, and the segments other than code that it has. */
const cases: [string, string, string[]][] = [
  ['a comment to the end of the line', 'a // b\nc', ['comment // b']],
  ['a comment over lines', 'a /* b\n * c */ d', ['comment /* b\n * c */']],
  ['a string', `f('a // b', "c")`, [`text 'a // b'`, 'text "c"']],
  ['a string with an escaped quote', String.raw`'a\'b' + c`, [String.raw`text 'a\'b'`]],
  ['a template', '`a ${b} c`', ['text `a ${', 'text } c`']],
  ['a template over lines', '`a\nb`', ['text `a\nb`']],
  ['a template in a template', '`a ${`b`} c`', ['text `a ${', 'text `b`', 'text } c`']],
  ['braces in an insertion', '`${{ a: { b } }}`', ['text `${', 'text }`']],
  ['a brace in a template', '`a } b`', ['text `a } b`']],
  ['SQL by its tag', 'sql`from ${a} b`', ['sql `from ${', 'sql } b`']],
  ['SQL by its tag with a type', 'sql<{ id: string }>`from a`', ['sql `from a`']],
  ['SQL in SQL', 'sql`a ${sql`b`} c`', ['sql `a ${', 'sql `b`', 'sql } c`']],
  ['SQL by its first word', '`select 1`', ['sql `select 1`']],
  ['a template that begins like SQL', '`with all of it`', ['text `with all of it`']],
  ['a template with a word like SQL', '`selected by a rule`', ['text `selected by a rule`']],
  ['a division', 'a / b / c', []],
  ['a regular expression with its flags', "a.replace(/'/g, b) // c", ["regexp /'/g", 'comment // c']],
  ['a regular expression with a slash in a class', "x = /[/'`]/ // c", ["regexp /[/'`]/", 'comment // c']],
  ['a string without an end', "a'b\n// c", ["text '", 'comment // c']],
]

for (const [what, text, expected] of cases) {
  test(`finds ${what}`, () => {
    const segments = segmentsOf(text)
    const found = segments.filter(({ kind }) => kind !== 'code')
    assert.deepEqual(
      found.map(({ kind, start, end }) => `${kind} ${text.slice(start, end)}`),
      expected,
    )
    assert.equal(segments.map(({ start, end }) => text.slice(start, end)).join(''), text)
  })
}
