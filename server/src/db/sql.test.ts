import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Statement } from '../kernel/context.ts'
import { allOf, sql, sqlLiteral } from './sql.ts'

const cases: [string, Statement, string, unknown[]][] = [
  ['binds a value', sql`select ${1}`, 'select $1', [1]],
  ['binds a text that looks like SQL', sql`select ${"'; drop table x"}`, 'select $1', ["'; drop table x"]],
  ['binds a value as often as it occurs', sql`${1} ${1}`, '$1 $2', [1, 1]],
  ['binds undefined, null and lists', sql`${undefined} ${null} ${[1, 2]}`, '$1 $2 $3', [undefined, null, [1, 2]]],
  ['binds an object that looks like a statement', sql`${{ text: 'x', values: [] }}`, '$1', [{ text: 'x', values: [] }]],
  ['inserts a statement', sql`select (${sql`select 1`})`, 'select (select 1)', []],
  [
    'numbers the values of inserted statements',
    sql`${1} (${sql`${2} ${sql`${3}`}`}) ${4}`,
    '$1 ($2 $3) $4',
    [1, 2, 3, 4],
  ],
  ['inserts a statement twice', ((one) => sql`${one} ${one}`)(sql`${1}`), '$1 $2', [1, 1]],
  ['inserts an empty statement', sql`select 1${sql``}`, 'select 1', []],
  ['writes a literal into the text', sql`status = ${sqlLiteral('pending')}`, "status = 'pending'", []],
  ['joins conditions', allOf([sql`a = ${1}`, sql`b = ${2}`]), 'a = $1 and b = $2', [1, 2]],
  ['is true without conditions', allOf([]), 'true', []],
]

suite('a statement', () => {
  for (const [what, { text, values }, expected, bound] of cases) {
    test(what, () => assert.deepEqual([text, values], [expected, bound]))
  }

  for (const text of ["it's", 'a"b', 'Pending', 'a;b', '', '1']) {
    test(`refuses the literal ${JSON.stringify(text)}`, () => assert.throws(() => sqlLiteral(text), /may only have/))
  }

  test('is made by the tag alone: the compiler refuses any other object', () => {
    // @ts-expect-error: a text that was put together
    const statement: Statement = { text: `select ${1}`, values: [] }
    assert.equal(statement.text, 'select 1')
  })
})
